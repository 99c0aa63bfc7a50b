"""A class in real browsers: a teacher and a student."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.studio.conftest import visiting


def test_a_class_from_its_start_to_the_marks(browser: Browser, address: str) -> None:
    with (
        visiting(browser, address, "class-teacher", language="es") as teacher,
        visiting(browser, address, "class-student", phone=True) as student,
    ):
        page = teacher.open("/class")
        teacher.picture("entrance")
        page.locator('[data-test="title"]').fill("Privacidad")
        page.locator('[data-test="school"]').click()
        code = page.locator('[data-test="code"]').inner_text().replace(" ", "")
        page.wait_for_function("window.socket !== undefined && window.socket.connected")
        page.locator('[data-test="set-task"]').click()
        desk = student.open(f"/class/join/{code.lower()}")
        desk.locator('[data-test="name"]').fill("Ana")
        desk.locator('[data-test="event_seat"]').click()
        desk.locator('[data-test="task-1"]').click()
        desk.wait_for_function("window.socket !== undefined && window.socket.connected")
        desk.locator('[data-test="k"]').fill("11")
        desk.locator('[data-test="run"]').click()
        expect(desk.locator('[data-test="verdict"]')).to_contain_text("Goal reached")
        expect(desk.locator('[data-test="attempts"]')).to_contain_text("highest risk 9.1")
        assert student.overflow() == 0
        student.picture("phone-task")
        expect(page.locator('[data-test="board"]')).to_contain_text("Ana")
        expect(page.locator('[data-test="board"]')).to_contain_text("10,0 · pérdida")
        teacher.picture("board")
        marks = page.request.get(f"{address}/class/{code}/marks.csv")
        assert "1,Ana,10.0,10.0" in marks.text()
        for path in ("teach", "board", "seat/1/1", "marks.csv"):
            seen = desk.request.get(f"{address}/class/{code}/{path}").text()
            assert "Ana" not in seen  # a student sees no names, solutions or marks
        teacher.open(f"/class/{code}/seat/1/1")
        page.locator("pre.celosia-code").first.wait_for()
        assert "KAnonymity(11)" in page.locator("main").inner_text()
        teacher.open(f"/class/{code}/board?names=0")
        expect(page.locator('[data-test="board"]')).to_contain_text("Puesto 1")
        teacher.picture("projector")
        teacher.open(f"/class/{code}/teach")
        page.locator('[data-test="end"]').click()
        page.locator('[data-test="end-now"]').click()
        page.locator('[data-test="title"]').wait_for()
        assert desk.request.get(f"{address}/class/{code}").status == 404
