import { mix, shade } from '../color'
import { circle, ellipse, group, line, path, rect, type Shape } from '../model'
import { motif } from './motif'

const windows = (
  x: number,
  y: number,
  columns: number,
  rows: number,
  step: [number, number],
  fill: `#${string}`,
): Shape[] =>
  Array.from({ length: columns * rows }, (_, at) =>
    rect(x + (at % columns) * step[0], y + Math.floor(at / columns) * step[1], step[0] * 0.5, step[1] * 0.5, fill, {
      radius: 0.6,
    }),
  )

export const BUILDINGS = [
  motif(
    'house',
    'ground',
    0.46,
    ['home', 'cottage', 'cabin', 'hut', 'barn', 'farmhouse', 'farm'],
    ({ paper, ink, main, second, accent }) => [
      rect(70, 16, 9, 24, mix(ink, main, 0.35)),
      rect(16, 48, 68, 52, mix(paper, second, 0.18)),
      rect(50, 48, 34, 52, mix(paper, second, 0.32)),
      path('M6 50 L50 12 L94 50 Z', main),
      path('M50 12 L94 50 H50 Z', shade(main, -0.07)),
      rect(43, 68, 16, 32, shade(main, -0.14), { radius: 2 }),
      circle(56, 85, 1.4, accent),
      rect(23, 62, 14, 14, accent, { radius: 1.5 }),
      rect(66, 62, 12, 14, accent, { radius: 1.5 }),
      line('M30 62 V76 M23 69 H37 M72 62 V76 M66 69 H78', mix(ink, main, 0.3), 1.4),
      circle(50, 38, 6, mix(paper, accent, 0.5)),
    ],
  ),
  motif('lighthouse', 'ground', 0.68, ['beacon'], ({ paper, ink, main, accent }) => [
    path('M50 22 L112 6 V30 L50 26 Z M50 22 L-12 6 V30 L50 26 Z', accent, { opacity: 0.35 }),
    path('M38 34 H62 L70 96 H30 Z', paper),
    path('M50 34 H62 L70 96 H50 Z', ink, { opacity: 0.1 }),
    path('M36.8 44 H63.2 L64.9 57 H35.1 Z M33.5 70 H66.5 L68.3 84 H31.7 Z', main),
    rect(33, 30, 34, 5, ink, { radius: 1.5 }),
    rect(40, 16, 20, 14, accent, { radius: 1 }),
    line('M45 16 V30 M50 16 V30 M55 16 V30', ink, 1.2),
    path('M36 16 Q50 0 64 16 Z', main),
    circle(50, 6, 2, ink),
    path('M45 96 V84 A5 5 0 0 1 55 84 V96 Z', ink),
    path('M12 100 C22 92 30 95 38 94 H64 C74 94 82 93 90 100 Z', mix(ink, main, 0.15)),
  ]),
  motif('castle', 'ground', 0.56, ['fortress', 'palace', 'fort'], ({ paper, ink, main, second, accent }) => [
    rect(22, 46, 56, 54, mix(second, paper, 0.35)),
    path('M22 46 V40 H29 V46 H36 V40 H43 V46 H57 V40 H64 V46 H71 V40 H78 V46 Z', mix(second, paper, 0.35)),
    rect(6, 32, 22, 68, mix(second, paper, 0.2)),
    rect(72, 32, 22, 68, mix(second, ink, 0.08)),
    rect(40, 26, 20, 30, mix(second, paper, 0.1)),
    path('M3 34 L17 8 L31 34 Z M69 34 L83 8 L97 34 Z', main),
    path('M37 28 L50 2 L63 28 Z', shade(main, -0.05)),
    path('M40 100 V78 A10 10 0 0 1 60 78 V100 Z', ink),
    ...[12, 78].map((x) => rect(x + 2, 50, 6, 12, ink, { radius: 3 })),
    rect(47, 36, 6, 10, ink, { radius: 3 }),
    path('M17 8 V-2 L27 2 L17 6 Z M83 8 V-2 L93 2 L83 6 Z', accent),
  ]),
  motif(
    'skyscraper',
    'ground',
    0.74,
    ['tower', 'office', 'building', 'high-rise', 'apartment'],
    ({ paper, ink, main, second, accent }) => [
      rect(10, 46, 26, 54, mix(second, ink, 0.15)),
      rect(66, 34, 26, 66, mix(second, paper, 0.2)),
      rect(30, 12, 40, 88, main),
      rect(50, 12, 20, 88, shade(main, -0.06)),
      rect(48.8, -4, 2.4, 16, ink),
      ...windows(35, 19, 4, 11, [8, 7], mix(accent, paper, 0.3)),
      ...windows(14, 52, 2, 6, [9, 7.4], mix(accent, paper, 0.55)),
      ...windows(74, 41, 2, 7, [7.4, 7.6], mix(accent, ink, 0.25)),
      rect(45, 90, 10, 10, ink),
    ],
  ),
  motif(
    'city',
    'ground',
    0.6,
    ['skyline', 'town', 'downtown', 'metropolis', 'village'],
    ({ paper, ink, main, second, accent }) => [
      ...[
        [-30, 52, 24],
        [-8, 36, 20],
        [10, 58, 22],
        [30, 20, 20],
        [48, 46, 24],
        [70, 30, 18],
        [86, 54, 22],
        [106, 40, 24],
      ].map(([x, y, w], at) =>
        group('building', [
          rect(
            x!,
            y!,
            w!,
            100 - y!,
            [main, shade(main, -0.07), mix(main, second, 0.5), mix(second, ink, 0.2)][at % 4]!,
          ),
          ...windows(
            x! + 3.4,
            y! + 5,
            Math.floor((w! - 4) / 6),
            Math.floor((92 - y!) / 8),
            [6, 8],
            mix(accent, paper, at % 2 ? 0.2 : 0.5),
          ),
        ]),
      ),
      rect(39, 6, 2, 14, ink),
    ],
  ),
  motif('bridge', 'water', 0.46, ['viaduct'], ({ ink, main, second }) => [
    rect(12, 14, 7, 86, main),
    rect(81, 14, 7, 86, main),
    line('M-20 62 Q0 52 15.5 16 Q50 92 84.5 16 Q100 52 120 62', main, 3),
    line(
      Array.from({ length: 15 }, (_, at) => {
        const x = 22 + at * 4
        const t = (x - 15.5) / 69
        return `M${x} ${16 + 4 * 38 * t * (1 - t) * 1} V70`
      }).join(' '),
      mix(main, second, 0.4),
      1,
    ),
    rect(-20, 68, 140, 7, shade(main, -0.12)),
    rect(9, 10, 13, 6, ink, { radius: 1 }),
    rect(78, 10, 13, 6, ink, { radius: 1 }),
  ]),
  motif('windmill', 'ground', 0.6, ['mill', 'turbine'], ({ paper, ink, main, accent }) => [
    path('M40 40 H60 L68 100 H32 Z', mix(paper, main, 0.25)),
    path('M50 40 H60 L68 100 H50 Z', ink, { opacity: 0.09 }),
    path('M36 42 Q50 20 64 42 Z', main),
    path('M44 100 V86 A6 6 0 0 1 56 86 V100 Z', ink),
    group(
      'sails',
      [
        ...[20, 110, 200, 290].map((rotate) =>
          group(
            'sail',
            [
              rect(-1, -44, 2, 44, ink),
              rect(1, -42, 10, 30, accent),
              line('M1 -34 H11 M1 -26 H11 M1 -18 H11', ink, 0.8),
            ],
            { rotate },
          ),
        ),
        circle(0, 0, 4, ink),
      ],
      { x: 50, y: 38 },
    ),
  ]),
  motif('tent', 'ground', 0.36, ['camp', 'camping'], ({ ink, main, accent }) => [
    path('M50 20 L100 100 H0 Z', main),
    path('M50 20 L100 100 H62 Z', shade(main, -0.1)),
    path('M50 34 L66 100 H34 Z', ink),
    path('M50 34 L34 100 H22 Z', accent),
    line('M50 20 L46 12 M50 20 L54 12', ink, 2.4),
  ]),
  motif('temple', 'ground', 0.5, ['museum', 'bank', 'courthouse', 'pantheon'], ({ paper, ink, main, accent }) => [
    path('M4 40 L50 12 L96 40 Z', main),
    path('M18 36 L50 17 L82 36 Z', shade(main, 0.08)),
    circle(50, 29, 4, accent),
    rect(6, 40, 88, 7, mix(paper, main, 0.25)),
    ...[12, 30, 48, 66, 84].map((x) => rect(x - 3, 47, 8, 40, mix(paper, ink, 0.06))),
    ...[12, 30, 48, 66, 84].map((x) => rect(x + 1, 47, 4, 40, mix(paper, ink, 0.16))),
    rect(2, 87, 96, 6, mix(paper, main, 0.3)),
    rect(-3, 93, 106, 7, mix(paper, main, 0.42)),
  ]),
  motif('igloo', 'ground', 0.34, [], ({ paper, ink, second }) => [
    path('M4 100 A46 46 0 0 1 96 100 Z', mix(paper, second, 0.2)),
    line('M12 74 H88 M26 57 H74 M50 54 V74 M30 74 V100 M70 74 V100', mix(second, ink, 0.15), 1.6),
    ellipse(50, 100, 17, 20, mix(paper, second, 0.05)),
    path('M38 100 V92 A12 12 0 0 1 62 92 V100 Z', ink),
  ]),
]
