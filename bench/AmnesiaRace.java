/* The k^m-anonymity of Amnesia, timed: `java AmnesiaRace FILE K M`.
 *
 * FILE has the parent of each node in its first line (-1 for the root; leaves come first), then one
 * transaction a line. Prints the processor seconds, and the node that stands for each leaf.
 * Written for this benchmark: the classes of Amnesia get their hierarchy through its interface.
 */
import algorithms.kmanonymity.Apriori;
import data.Data;
import hierarchy.Hierarchy;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

public class AmnesiaRace {
  private static int[] parents;
  private static final Map<Double, Set<Double>> children = new HashMap<>();
  private static int[] levels;
  private static int[] weights;

  public static void main(String[] given) throws Exception {
    List<String> lines = Files.readAllLines(Path.of(given[0]));
    parents = Arrays.stream(lines.get(0).split(" ")).mapToInt(Integer::parseInt).toArray();
    double[][] rows = new double[lines.size() - 1][];
    weights = new int[parents.length];
    for (int row = 0; row < rows.length; row++) {
      String[] items = lines.get(row + 1).split(" ");
      rows[row] = Arrays.stream(items).mapToDouble(Double::parseDouble).toArray();
      for (double item : rows[row]) weights[(int) item]++;
    }
    for (int node = 0; node < parents.length; node++)
      if (parents[node] >= 0)
        children.computeIfAbsent((double) parents[node], key -> new TreeSet<>()).add((double) node);
    levels = new int[parents.length]; // parents have larger numbers than their children
    for (int node = 0; node < parents.length; node++)
      if (parents[node] >= 0)
        levels[parents[node]] = Math.max(levels[parents[node]], levels[node] + 1);
    PrintStream shown = System.out;
    System.setOut(new PrintStream(PrintStream.nullOutputStream()));
    Apriori search = new Apriori();
    search.setDataset((Data) proxy(Data.class, (self, method, values) ->
        method.getName().equals("getDataSet") ? rows : null));
    Map<Integer, Hierarchy> trees = new HashMap<>();
    trees.put(0, (Hierarchy) proxy(Hierarchy.class, AmnesiaRace::answer));
    search.setHierarchies(trees);
    Map<String, Integer> arguments = new HashMap<>();
    arguments.put("k", Integer.parseInt(given[1]));
    arguments.put("m", Integer.parseInt(given[2]));
    search.setArguments(arguments);
    long before = nanoseconds();
    search.anonymize();
    double seconds = (nanoseconds() - before) / 1e9;
    @SuppressWarnings("unchecked")
    Map<Double, Double> rules = (Map<Double, Double>) search.getResultSet();
    StringBuilder text = new StringBuilder(String.valueOf(seconds));
    for (int leaf = 0; leaf < parents.length && levels[leaf] == 0; leaf++)
      text.append(' ').append(rules.getOrDefault((double) leaf, (double) leaf).intValue());
    shown.println(text);
  }

  private static long nanoseconds() {
    return ((com.sun.management.OperatingSystemMXBean)
        ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  private static Object proxy(Class<?> kind, InvocationHandler handler) {
    return Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, handler);
  }

  /** What the search asks of a hierarchy. */
  private static Object answer(Object self, java.lang.reflect.Method method, Object[] values) {
    int node = values != null && values[0] instanceof Number ? ((Number) values[0]).intValue() : -1;
    switch (method.getName()) {
      case "getParentId": return (double) parents[node];
      case "getChildrenIds": return children.get((double) node);
      case "getLevel": return levels[node];
      case "getWeight": return weights[node];
      case "getRoot": return (double) (parents.length - 1);
      case "getHeight": return levels[parents.length - 1] + 1;
      case "getNodeIdsInLevel":
        List<Integer> found = new ArrayList<>();
        for (int each = 0; each < parents.length; each++) if (levels[each] == node) found.add(each);
        return found;
      case "getLeafNodesAndParents":
        Map<Integer, Set<Double>> both = new HashMap<>();
        both.put(0, new TreeSet<>());
        both.put(1, new TreeSet<>());
        for (int each = 0; each < parents.length; each++)
          if (levels[each] < 2) both.get(levels[each]).add((double) each);
        return both;
      default: return null;
    }
  }
}
