// Unit solids as triangles: {points, normals, corners}. A box has edges 1, a cylinder has radius 1 and runs from -1/2 to 1/2
// along z, a sphere has radius 1. `fineness` is the number of sides of what is round.

function boxSolid() {
  const points = [], normals = [], corners = [];
  for (let axis = 0; axis < 3; axis++)
    for (const side of [-1, 1]) {
      const first = points.length / 3;
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const p = [0, 0, 0];
        p[axis] = side / 2;
        p[(axis + 1) % 3] = (side * u) / 2;
        p[(axis + 2) % 3] = v / 2;
        points.push(...p);
        const n = [0, 0, 0];
        n[axis] = side;
        normals.push(...n);
      }
      corners.push(first, first + 1, first + 2, first, first + 2, first + 3);
    }
  return { points, normals, corners };
}

function cylinderSolid(fineness) {
  const points = [], normals = [], corners = [];
  for (let k = 0; k < fineness; k++) {
    const a = (2 * Math.PI * k) / fineness;
    const [c, s] = [Math.cos(a), Math.sin(a)];
    points.push(c, s, -0.5, c, s, 0.5, c, s, -0.5, c, s, 0.5);
    normals.push(c, s, 0, c, s, 0, 0, 0, -1, 0, 0, 1);
    const i = 4 * k;
    const j = 4 * ((k + 1) % fineness);
    corners.push(i, j, j + 1, i, j + 1, i + 1);
    if (k > 1) corners.push(2, i + 2, i - 2, 3, i - 1, i + 3);
  }
  return { points, normals, corners };
}

// A cone of radius 1 at z = -1/2 that comes to its point at z = 1/2.
function coneSolid(fineness) {
  const points = [], normals = [], corners = [];
  for (let k = 0; k < fineness; k++) {
    const a = (2 * Math.PI * k) / fineness;
    const [c, s] = [Math.cos(a), Math.sin(a)];
    points.push(c, s, -0.5, 0, 0, 0.5, c, s, -0.5);
    normals.push(c, s, 1, c, s, 1, 0, 0, -1);
    const i = 3 * k;
    const j = 3 * ((k + 1) % fineness);
    corners.push(i, j, i + 1);
    if (k > 1) corners.push(2, i + 2, i - 1);
  }
  return { points, normals, corners };
}

function sphereSolid(fineness) {
  const points = [], normals = [], corners = [];
  const rings = Math.max(3, fineness >> 1);
  for (let i = 0; i <= rings; i++)
    for (let k = 0; k <= fineness; k++) {
      const [a, b] = [(Math.PI * i) / rings, (2 * Math.PI * k) / fineness];
      const p = [Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a)];
      points.push(...p);
      normals.push(...p);
      const here = i * (fineness + 1) + k;
      if (i < rings && k < fineness) {
        const below = here + fineness + 1;
        if (i > 0) corners.push(here, below, here + 1);
        if (i < rings - 1) corners.push(here + 1, below, below + 1);
      }
    }
  return { points, normals, corners };
}

// Triangles of a mesh, each with its own flat normal.
function meshSolid(vertices, triangles) {
  const points = [], normals = [], corners = [];
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b, c] = [0, 1, 2].map((i) => Array.from(vertices.slice(3 * triangles[k + i], 3 * triangles[k + i] + 3)));
    const n = unit(cross(sub(b, a), sub(c, a)));
    points.push(...a, ...b, ...c);
    normals.push(...n, ...n, ...n);
    corners.push(k, k + 1, k + 2);
  }
  return { points, normals, corners };
}
