// Vectors are arrays of three, quaternions [w, x, y, z], 4 x 4 matrices 16 numbers by columns.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const mul = (k, a) => [k * a[0], k * a[1], k * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const mix = (a, b, k) => [a[0] + k * (b[0] - a[0]), a[1] + k * (b[1] - a[1]), a[2] + k * (b[2] - a[2])];
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

function unit(a) {
  const length = norm(a);
  return length > 0 ? mul(1 / length, a) : [0, 0, 1];
}

// Two unit vectors across `z`, so that the three are a right-handed frame.
function across(z) {
  const k = [Math.abs(z[0]), Math.abs(z[1]), Math.abs(z[2])];
  const seed = k[0] <= k[1] && k[0] <= k[2] ? [1, 0, 0] : k[1] <= k[2] ? [0, 1, 0] : [0, 0, 1];
  const x = unit(cross(seed, z));
  return [x, cross(z, x)];
}

// Columns of the rotation matrix of a quaternion of any length.
function columns(w, x, y, z) {
  const s = 2 / (w * w + x * x + y * y + z * z);
  return [
    1 - s * (y * y + z * z), s * (x * y + w * z), s * (x * z - w * y),
    s * (x * y - w * z), 1 - s * (x * x + z * z), s * (y * z + w * x),
    s * (x * z + w * y), s * (y * z - w * x), 1 - s * (x * x + y * y),
  ];
}

// A pose is 12 numbers: three columns and the origin. `place` puts a point there, `turn` a direction.
const turn = (m, v) => [
  m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
  m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
  m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
];
const place = (m, v) => add(turn(m, v), [m[9], m[10], m[11]]);

// The matrix of a solid (12 numbers in the frame of its body) seen in the frame of a pose.
function within(pose, solid) {
  return [
    ...turn(pose, solid.slice(0, 3)), ...turn(pose, solid.slice(3, 6)),
    ...turn(pose, solid.slice(6, 9)), ...place(pose, solid.slice(9, 12)),
  ];
}

function product4(a, b) {
  const out = new Float32Array(16);
  for (let j = 0; j < 4; j++)
    for (let i = 0; i < 4; i++) {
      let s = 0;
      for (let k = 0; k < 4; k++) s += a[4 * k + i] * b[4 * j + k];
      out[4 * j + i] = s;
    }
  return out;
}

// Homogeneous image of a point.
const image4 = (m, p) => [0, 1, 2, 3].map((i) => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]);

// Numbers from base64, as `kinegrad.page.packing` writes them.
function unpacked(text, Kind = Float32Array) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Kind(bytes.buffer);
}

// Last index k with list[k] <= x, for an increasing list.
function indexBefore(list, x) {
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Round numbers (1, 2, 5 times a power of ten) about `count` of which lie between low and high.
function niceStep(span, count) {
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const lead = raw / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

// A number in few characters.
function short(x, digits = 3) {
  if (x === null || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(Math.max(0, digits - 2)).replace("e+", "e").replace("-", "−").replace("e-", "e−");
  return String(Number(x.toPrecision(digits))).replace("-", "−");
}

// [r, g, b] from 0 to 1 of '#rrggbb'.
const rgb = (text) => [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16) / 255);
