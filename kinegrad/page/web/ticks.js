// Round numbers along an axis, and their labels.

// Round numbers from low to high.
function steps(low, high, count) {
  if (!(high > low)) return [low];
  const step = niceStep(high - low, count);
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && out.length < 50; k++) out.push(k * step);
  return out;
}

// Whole decades, at most six of them.
function decades(low, high) {
  const step = Math.max(1, Math.ceil((high - low) / 5));
  const out = [];
  for (let k = low; k <= high; k += step) out.push(k);
  return out;
}

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const raised = (n) => [...String(n)].map((c) => RAISED[c]).join("");

// {labels, note}: as few characters as tell neighbours apart; a common factor or offset stands in the note.
function tickLabels(ticks) {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : Math.abs(ticks[0]) || 1;
  const largest = (list) => Math.max(...list.map(Math.abs));
  const offset = ticks.length > 1 && largest(ticks) > 2e4 * step ? ticks[0] : 0;
  const rest = ticks.map((tick) => tick - offset);
  const most = Math.max(largest(rest), step);
  const power = most >= 1e5 || most < 1e-2 ? 3 * Math.floor(Math.log10(most) / 3 + 1e-9) : 0;
  const decimals = clamp(-Math.floor(Math.log10(step) - power + 1e-9), 0, 12);
  const labels = rest.map((x) => {
    const text = (x * 10 ** -power).toFixed(decimals);
    return Number(text) === 0 ? "0" : text.replace("-", "−");
  });
  const factor = power ? `×10${raised(power)}` : "";
  const from = offset ? `${offset < 0 ? "−" : "+"}${String(Number(Math.abs(offset).toPrecision(9)))}` : "";
  return { labels, note: [factor, from].filter(Boolean).join(" ") };
}
