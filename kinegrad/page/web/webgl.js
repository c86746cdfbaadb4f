// The view drawn by WebGL 2: all solids of a kind in one call, lines as quads of a width in pixels, flat shadows on the floor.

const SOLID_VERTEX = `#version 300 es
layout(location=0) in vec3 point; layout(location=1) in vec3 normal;
layout(location=2) in vec3 mx; layout(location=3) in vec3 my; layout(location=4) in vec3 mz; layout(location=5) in vec3 origin;
layout(location=6) in vec4 colour;
uniform mat4 camera; uniform vec4 floorPlane; uniform vec3 light; uniform bool shadow;
out vec3 n; out vec4 c; out vec3 where;
void main() {
  vec3 p = mat3(mx, my, mz) * point + origin;
  if (shadow) p -= light * (dot(floorPlane.xyz, p) - floorPlane.w) / dot(floorPlane.xyz, light);
  vec3 k = vec3(dot(mx, mx), dot(my, my), dot(mz, mz));
  n = mat3(mx, my, mz) * (normal / max(k, 1e-30));
  c = colour; where = p;
  gl_Position = camera * vec4(p, 1.0);
}`;
const SOLID_FRAGMENT = `#version 300 es
precision highp float;
in vec3 n; in vec4 c; in vec3 where;
uniform vec3 light; uniform vec3 up; uniform vec3 eye; uniform bool shadow; uniform vec4 shade; uniform float reach; uniform vec3 middle;
out vec4 result;
void main() {
  if (shadow) {
    result = vec4(shade.rgb, shade.a * c.a * clamp(1.5 - length(where - middle) / reach, 0.0, 1.0));
    return;
  }
  vec3 v = normalize(eye - where);
  vec3 m = normalize(n);
  if (dot(m, v) < 0.0) m = -m;
  float sun = max(dot(m, light), 0.0);
  float sky = 0.5 + 0.5 * dot(m, up);
  float gloss = pow(max(dot(m, normalize(light + v)), 0.0), 40.0);
  result = vec4(c.rgb * (0.36 + 0.22 * sky + 0.55 * sun) + 0.16 * gloss, c.a);
}`;
const LINE_VERTEX = `#version 300 es
layout(location=0) in vec2 corner;
layout(location=1) in vec3 a; layout(location=2) in vec3 b; layout(location=3) in vec4 colour; layout(location=4) in float width;
uniform mat4 camera; uniform vec2 size; uniform float pixels;
out vec4 c; out float side;
void main() {
  vec4 p = camera * vec4(a, 1.0), q = camera * vec4(b, 1.0);
  float least = 1e-4;
  if (p.w < least && q.w < least) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  if (p.w < least) p = mix(q, p, (q.w - least) / (q.w - p.w));
  if (q.w < least) q = mix(p, q, (p.w - least) / (p.w - q.w));
  vec2 d = (q.xy / q.w - p.xy / p.w) * size;
  d = length(d) > 1e-6 ? normalize(d) : vec2(1.0, 0.0);
  float half_ = 0.5 * width * pixels + 0.5;
  vec4 r = corner.x < 0.5 ? p : q;
  vec2 shift = (vec2(-d.y, d.x) * corner.y + d * (corner.x - 0.5) * 0.8) * half_;
  gl_Position = vec4(r.xy + 2.0 * shift / size * r.w, r.zw);
  c = colour; side = corner.y;
}`;
const LINE_FRAGMENT = `#version 300 es
precision highp float;
in vec4 c; in float side;
out vec4 result;
void main() { result = vec4(c.rgb, c.a * (1.0 - smoothstep(0.55, 1.0, abs(side)))); }`;

class WebGLView {
  constructor(canvas, drawing) {
    const gl = canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: true, premultipliedAlpha: false });
    if (!gl) throw new Error("no WebGL 2");
    this.kind = "webgl";
    this.canvas = canvas;
    this.gl = gl;
    this.solid = program(gl, SOLID_VERTEX, SOLID_FRAGMENT, "camera floorPlane light shadow up eye shade reach middle");
    this.line = program(gl, LINE_VERTEX, LINE_FRAGMENT, "camera size pixels");
    this.shapes = { box: this.shape(boxSolid()), cylinder: this.shape(cylinderSolid(28)), cone: this.shape(coneSolid(24)), sphere: this.shape(sphereSolid(24)) };
    this.setMeshes(drawing.meshes);
    this.lineArray = this.lineShape();
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  setMeshes(meshes) {
    meshes.forEach((mesh, k) => (this.shapes[`mesh${k}`] = this.shape(mesh)));
  }

  shape({ points, normals, corners }) {
    const gl = this.gl;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    [points, normals].forEach((values, place) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(values), gl.STATIC_DRAW);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 0, 0);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(corners), gl.STATIC_DRAW);
    const instances = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, instances);
    for (let k = 0; k < 5; k++) {
      gl.enableVertexAttribArray(2 + k);
      gl.vertexAttribPointer(2 + k, k < 4 ? 3 : 4, gl.FLOAT, false, 64, 12 * k);
      gl.vertexAttribDivisor(2 + k, 1);
    }
    gl.bindVertexArray(null);
    return { array, instances, corners: corners.length };
  }

  lineShape() {
    const gl = this.gl;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, -1, 1, -1, 0, 1, 1, 1]), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    const instances = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, instances);
    for (const [place, count, offset] of [[1, 3, 0], [2, 3, 12], [3, 4, 24], [4, 1, 40]]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, count, gl.FLOAT, false, 44, offset);
      gl.vertexAttribDivisor(place, 1);
    }
    gl.bindVertexArray(null);
    return { array, instances };
  }

  draw({ solids, lines }, camera, theme, floor, shadows) {
    const gl = this.gl;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...theme.background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    const matrix = camera.matrix;
    const { right, up, back } = camera.axes;
    const light = unit(add(mul(0.9, floor.up), add(mul(0.55, back), mul(-0.35, right))));
    const u = this.solid.places;
    gl.useProgram(this.solid.program);
    gl.uniformMatrix4fv(u.camera, false, matrix);
    gl.uniform4f(u.floorPlane, ...floor.up, floor.height);
    gl.uniform3f(u.up, ...floor.up);
    gl.uniform3f(u.eye, ...camera.eye);
    gl.uniform4f(u.shade, ...theme.shadow);
    gl.uniform1f(u.reach, camera.size);
    gl.uniform3f(u.middle, ...camera.target);
    const load = (lists) => Object.entries(lists).map(([kind, list]) => {
      const data = new Float32Array(16 * list.length);
      list.forEach(([m, colour, opacity], k) => {
        data.set(m, 16 * k);
        data.set(colour, 16 * k + 12);
        data[16 * k + 15] = opacity;
      });
      const shape = this.shapes[kind];
      gl.bindBuffer(gl.ARRAY_BUFFER, shape.instances);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
      return [shape, list.length, kind];
    });
    const put = (kinds) => kinds.forEach(([shape, count, kind]) => {
      gl[kind.startsWith("mesh") ? "disable" : "enable"](gl.CULL_FACE); // meshes may be open, or turned inside out
      gl.bindVertexArray(shape.array);
      gl.drawElementsInstanced(gl.TRIANGLES, shape.corners, gl.UNSIGNED_INT, 0, count);
    });
    const solid = load(kept(solids, (opacity) => opacity >= 1));
    const all = () => put(solid);
    if (shadows && dot(camera.eye, floor.up) > floor.height) {
      gl.uniform3f(u.light, ...unit(add(floor.up, mul(0.25, right))));
      gl.uniform1i(u.shadow, 1);
      gl.enable(gl.BLEND);
      gl.enable(gl.STENCIL_TEST);
      gl.stencilFunc(gl.EQUAL, 0, 255);
      gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
      gl.depthMask(false);
      all();
      gl.depthMask(true);
      gl.disable(gl.STENCIL_TEST);
      gl.disable(gl.BLEND);
    }
    gl.uniform3f(u.light, ...light);
    gl.uniform1i(u.shadow, 0);
    all();
    const clear = load(kept(solids, (opacity) => opacity < 1)); // of what shines through, the nearest faces are seen
    gl.enable(gl.BLEND);
    gl.colorMask(false, false, false, false);
    put(clear);
    gl.colorMask(true, true, true, true);
    put(clear);
    gl.disable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
    gl.useProgram(this.line.program);
    gl.uniformMatrix4fv(this.line.places.camera, false, matrix);
    gl.uniform2f(this.line.places.size, this.canvas.width, this.canvas.height);
    gl.uniform1f(this.line.places.pixels, this.canvas.width / Math.max(1, this.canvas.clientWidth));
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lineArray.instances);
    gl.bufferData(gl.ARRAY_BUFFER, lines.data.subarray(0, 11 * lines.count), gl.DYNAMIC_DRAW);
    gl.bindVertexArray(this.lineArray.array);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, lines.count);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }
}

// Those instances of each kind whose opacity is wanted.
function kept(solids, wanted) {
  const found = Object.entries(solids).map(([kind, list]) => [kind, list.filter(([, , opacity]) => wanted(opacity))]);
  return Object.fromEntries(found.filter(([, list]) => list.length));
}

function program(gl, vertex, fragment, names) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  return { program: made, places: Object.fromEntries(names.split(" ").map((name) => [name, gl.getUniformLocation(made, name)])) };
}
