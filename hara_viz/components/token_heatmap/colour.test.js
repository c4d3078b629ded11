import assert from "node:assert/strict";
import { test } from "node:test";

import { colourScale, isDark } from "./colour.js";

const PAGE = { false: [255, 255, 255], true: [18, 21, 27] };
const TEXT = { false: [28, 36, 48], true: [228, 231, 236] };

// What is seen: the colour over the page.
function seen(css, dark) {
  const [red, green, blue, alpha] = css.match(/[\d.]+/g).map(Number);
  return [red, green, blue].map((channel, i) => channel * alpha + PAGE[dark][i] * (1 - alpha));
}

function luminance(rgb) {
  const [red, green, blue] = rgb.map((channel) => {
    const share = channel / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a, b) {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

for (const dark of [false, true]) {
  for (const signed of [false, true]) {
    const name = `${dark ? "dark" : "light"} ${signed ? "diverging" : "sequential"}`;
    const { css } = colourScale(signed ? [-1, 1] : [0, 1], signed, dark);

    test(`${name}: text on every fill has a contrast of at least 4.5`, () => {
      for (const colour of css) assert.ok(contrast(seen(colour, dark), TEXT[dark]) >= 4.5, colour);
    });

    test(`${name}: more is farther from the page in lightness, without a turn`, () => {
      const lightness = css.map((colour) => luminance(seen(colour, dark)));
      const halves = signed
        ? [lightness.slice(128), lightness.slice(0, 128).reverse()]
        : [lightness];
      for (const half of halves) {
        for (let i = 1; i < half.length; i++) {
          const away = dark ? half[i] - half[i - 1] : half[i - 1] - half[i];
          assert.ok(away > -2e-3, `step ${i}: ${away}`);
        }
        assert.ok(Math.abs(half.at(-1) - half[0]) > 0.08);
      }
    });
  }

  test(`${dark ? "dark" : "light"}: the two signs differ for red-green blind eyes (in blue)`, () => {
    const { css } = colourScale([-1, 1], true, dark);
    assert.ok(Math.abs(seen(css[0], dark)[2] - seen(css[255], dark)[2]) > 90);
  });
}

test("values find their place; those outside take the ends; unknown has no colour", () => {
  const scale = colourScale([0, 10], false, false);
  assert.deepEqual([-5, 0, 5, 10, 99].map(scale.index), [0, 0, 128, 255, 255]);
  assert.equal(scale.of(NaN), null);
});

test("zero stays the middle of lopsided bounds", () => {
  const scale = colourScale([-1, 4], true, false);
  assert.deepEqual([-1, -0.5, 0, 2, 4].map(scale.index), [0, 64, 128, 191, 255]);
});

test("dark and light pages, however they write their background", () => {
  for (const dark of ["#12151b", "rgb(18, 21, 27)", "#000"]) assert.equal(isDark(dark), true, dark);
  for (const light of ["#ffffff", "#fff", "rgb(255, 255, 255)", "rgba(250, 250, 250, 1)"])
    assert.equal(isDark(light), false, light);
});
