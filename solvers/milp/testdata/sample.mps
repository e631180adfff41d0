NAME a_sample FREE
ROWS
 N obj
 G capacity
 L r1
 G r2
 E r3
COLUMNS
 start_1 obj 1
 start_1 capacity 1
 M0 'MARKER' 'INTORG'
 x1 obj 0.3333333333333333
 x1 capacity 0.30000000000000004
 x1 r2 -2
 M1 'MARKER' 'INTEND'
 x2 obj 0.1
 x2 capacity 1
 x2 r3 -1
 M2 'MARKER' 'INTORG'
 x3 obj -1
 x3 r3 1
 M3 'MARKER' 'INTEND'
 x4 obj 0
 M4 'MARKER' 'INTORG'
 objconst obj 2.5
 M5 'MARKER' 'INTEND'
RHS
 RHS capacity 2
 RHS r1 5
 RHS r2 -9.75
BOUNDS
 LO BND start_1 -5
 UP BND start_1 -1
 LO BND x1 0
 UP BND x1 10
 LO BND x2 1e-07
 UP BND x2 1e+15
 LO BND x3 4
 UP BND x3 4
 LO BND x4 -2
 UP BND x4 2
 FX BND objconst 1
ENDATA
