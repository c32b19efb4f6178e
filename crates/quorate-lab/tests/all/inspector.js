// Looks at every text of every figure, and at the page. Writes below the frame it is in: a line
// for what it sees, then one for each fault.
document.querySelectorAll("details").forEach((folded) => { folded.open = true; });

const overlap = (one, other) =>
  Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0.5 &&
  Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 0.5;

const outside = (box, sheet) =>
  box.left < sheet.left - 0.5 || box.right > sheet.right + 0.5 ||
  box.top < sheet.top - 0.5 || box.bottom > sheet.bottom + 0.5;

const luminance = (colour) => {
  const part = (value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  const [red, green, blue] = colour.match(/\d+/g).map(Number).map(part);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const contrast = (one, other) => {
  const [dim, bright] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dim + 0.05);
};

const found = [];
const paper = getComputedStyle(document.body).backgroundColor;
const figures = document.querySelectorAll("svg");
figures.forEach((figure) => {
  const title = figure.getAttribute("aria-label");
  const sheet = figure.getBoundingClientRect();
  const texts = [...figure.querySelectorAll("text")].map((text) => ({
    words: text.textContent.trim(),
    box: text.getBoundingClientRect(),
    ink: getComputedStyle(text).fill,
  }));
  texts.forEach((text, place) => {
    if (outside(text.box, sheet)) found.push(`${title}: ${text.words} is cut`);
    if (contrast(text.ink, paper) < 4.5) found.push(`${title}: ${text.words} is hard to read`);
    texts.slice(place + 1).filter((other) => overlap(text.box, other.box)).forEach((other) => {
      found.push(`${title}: ${text.words} and ${other.words} overlap`);
    });
  });
});
const root = document.documentElement;
if (root.scrollWidth > root.clientWidth) found.push("the page scrolls sideways");

const scheme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
const seen = document.createElement("pre");
seen.id = "inspected";
seen.textContent =
  [`${scheme}, ${innerWidth} wide, ${figures.length} figures`, ...found].join("\n");
parent.document.body.append(seen);
