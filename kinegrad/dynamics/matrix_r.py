class MatrixRNewmark: pass
class MatrixRRungeKutta4: pass
