//! The report in a real browser, where there is one: with its fonts, in its window.

use std::fs;
use std::process::{Command, Output};

use crate::report::PAGE;
use crate::tools::{file, path};

/// Inserted into a copy of the page; reports what it sees and what is wrong.
const INSPECTOR: &str = include_str!("inspector.js");

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Longer than a browser takes on a slow machine; one that hangs fails.
const TIMEOUT_SECONDS: &str = "120";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Light,
    Dark,
}

struct Browser(&'static str);

impl Browser {
    /// The first browser that runs; prints a line if there is none.
    fn find() -> Option<Self> {
        let runs = |name: &&str| {
            let asked = Command::new(name).arg("--version").output();
            asked.is_ok_and(|asked| asked.status.success())
        };
        let found = BROWSERS.into_iter().find(runs);
        if found.is_none() {
            println!("skipped: no browser; looked for {}", BROWSERS.join(", "));
        }
        found.map(Self)
    }

    fn open(&self, page: &str, scheme: Scheme, size: (u32, u32), flag: &str) -> Output {
        let home = tempfile::tempdir().expect("a browser has a folder for itself");
        let scheme = match scheme {
            Scheme::Dark => 0,
            Scheme::Light => 1,
        };
        let done = Command::new("timeout")
            .args([TIMEOUT_SECONDS, self.0, "--headless", "--no-sandbox", "--disable-gpu"])
            .args(["--hide-scrollbars", "--virtual-time-budget=2000", flag])
            .arg(format!("--user-data-dir={}", home.path().display()))
            .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
            .arg(format!("--window-size={},{}", size.0, size.1))
            .arg(format!("file://{page}"))
            .output()
            .expect("the browser was found");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        done
    }

    /// What the inspector writes about a page.
    fn inspect(&self, page: &str, scheme: Scheme) -> Vec<String> {
        let done = self.open(page, scheme, (1300, 1000), "--dump-dom");
        let dom = String::from_utf8(done.stdout).expect("a page is text");
        let seen = dom.split("<pre id=\"inspected\">").nth(1).expect("the inspector has written");
        let seen = seen.split("</pre>").next().unwrap_or_default();
        seen.lines().map(str::to_owned).collect()
    }

    /// How large a picture of a page is; where much is to be seen it is large.
    fn weigh(&self, page: &str, scheme: Scheme, name: &str) -> u64 {
        let picture = path(name);
        self.open(page, scheme, (1200, 3000), &format!("--screenshot={picture}"));
        fs::metadata(picture).expect("the picture was taken").len()
    }
}

/// A copy of a page with the inspector in it, in a frame of this width: windows are wider than a
/// telephone.
fn inspected(name: &str, page: &str, width: u32) -> String {
    let script = format!("<script>\n{INSPECTOR}</script>\n</body>");
    let page = page.replacen("</body>", &script, 1);
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    let frame = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n\
         <style>:root {{ color-scheme: light dark }}</style>\n<body>\n\
         <iframe style=\"border: 0; width: {width}px; height: 900px\" srcdoc=\"{page}\"></iframe>\n"
    );
    file(name, &frame)
}

#[test]
fn nothing_overlaps_or_is_cut_with_real_fonts() {
    let Some(browser) = Browser::find() else { return };
    for (scheme, width) in [(Scheme::Light, 1200), (Scheme::Dark, 400)] {
        let word = if scheme == Scheme::Dark { "dark" } else { "light" };
        let page = inspected(&format!("inspected-{width}.html"), &PAGE, width);
        let seen = browser.inspect(&page, scheme);
        assert_eq!(
            seen[0],
            format!("{word}, {width} wide, {} figures", PAGE.matches("<svg ").count())
        );
        assert_eq!(seen[1..], [""; 0]);
    }
}

#[test]
fn the_inspector_sees_what_is_wrong() {
    let Some(browser) = Browser::find() else { return };
    let large = PAGE.replace("font-size=\"12\"", "font-size=\"30\"");
    let large = large.replace(
        "<h1>",
        "<h1><span style=\"white-space:nowrap\">wide wide wide \
        wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide</span>",
    );
    let large = large.replace("--ink: #1b1d21", "--ink: #eeeeee");
    let seen = browser.inspect(&inspected("wrong.html", &large, 400), Scheme::Light).join("\n");
    for fault in ["overlap", "is cut", "scrolls sideways", "hard to read"] {
        assert!(seen.contains(fault), "{fault} is not in {seen}");
    }
}

#[test]
fn the_page_is_not_blank_in_light_nor_dark() {
    let Some(browser) = Browser::find() else { return };
    let page = path("report.html");
    assert!(!PAGE.is_empty(), "the page was written");
    let blank = file("blank.html", "<!doctype html><title>blank</title>");
    let blank = browser.weigh(&blank, Scheme::Light, "blank.png");
    for (scheme, name) in [(Scheme::Light, "light.png"), (Scheme::Dark, "dark.png")] {
        let seen = browser.weigh(&page, scheme, name);
        assert!(seen > 5 * blank, "{name} has {seen} bytes, a blank page {blank}");
    }
    let [light, dark] = ["light.png", "dark.png"].map(|name| fs::read(path(name)).unwrap());
    assert!(light != dark, "dark is not light");
}
