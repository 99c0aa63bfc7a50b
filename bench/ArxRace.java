import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXConfiguration.AnonymizationAlgorithm;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;
import org.deidentifier.arx.metric.Metric.AggregateFunction;

/**
 * Runs ARX on a folder with `table.csv` and one file of hierarchies a column, `0.csv`, `1.csv`, ...
 * Arguments: the folder, then for each task ALGORITHM,LIMIT,MILLISECONDS,REPEATS,SNAPSHOT. For each
 * run it prints one line: the task, the processor seconds and the loss.
 */
public class ArxRace {
    public static void main(String[] words) throws Exception {
        for (int task = 1; task < words.length; task++) {
            String[] part = words[task].split(",");
            for (int run = 0; run < Integer.parseInt(part[3]); run++) {
                search(new File(words[0]), words[task], part);
            }
        }
    }

    private static void search(File folder, String task, String[] part) throws Exception {
        Data data = Data.create(new File(folder, "table.csv"), StandardCharsets.UTF_8, ';');
        DataHandle handle = data.getHandle();
        for (int column = 0; column < handle.getNumColumns(); column++) {
            File paths = new File(folder, column + ".csv");
            data.getDefinition().setAttributeType(handle.getAttributeName(column),
                    Hierarchy.create(paths, StandardCharsets.UTF_8, ';'));
        }
        ARXConfiguration config = ARXConfiguration.create();
        config.addPrivacyModel(new KAnonymity(5));
        config.setSuppressionLimit(Double.parseDouble(part[1]));
        config.setQualityModel(Metric.createLossMetric(AggregateFunction.GEOMETRIC_MEAN));
        config.setAlgorithm(AnonymizationAlgorithm.valueOf(part[0]));
        if (!part[2].equals("0")) {
            config.setHeuristicSearchTimeLimit(Integer.parseInt(part[2]));
        }
        ARXAnonymizer anonymizer = new ARXAnonymizer();
        anonymizer.setMaxQuasiIdentifiers(64);
        anonymizer.setMaximumSnapshotSizeDataset(Double.parseDouble(part[4]));
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        ARXResult result = anonymizer.anonymize(data, config);
        long spent = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;
        System.out.println(
                task + " " + spent / 1e9 + " " + result.getGlobalOptimum().getHighestScore());
        handle.release();
    }
}
