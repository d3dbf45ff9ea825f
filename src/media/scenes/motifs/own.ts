import { circle, ellipse, group, line, path, rect, type Shape } from '../model'
import { mix, type Palette, shade } from '../palette'
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

const eye = (x: number, y: number, r: number, ink: `#${string}`): Shape[] => [
  circle(x, y, r, ink),
  circle(x + r * 0.3, y - r * 0.35, r * 0.32, '#ffffff'),
]

/** A sitting animal with pointed ears and a narrow nose. Foxes have a white tail tip, wolves a dark back. */
const pointed = ({ paper, ink, main }: Palette, tip: `#${string}`): Shape[] => [
  path('M64 98 C96 104 110 74 90 46 C90 62 82 72 66 78 Z', main),
  path('M90 46 C98 57 101 69 97 81 C89 75 87 61 90 46 Z', tip),
  path('M27 100 C25 76 35 58 50 58 C65 58 75 76 73 100 Z', main),
  path('M39 100 C37 84 42 70 50 70 C58 70 63 84 61 100 Z', mix(paper, main, 0.08)),
  path('M19 3 L47 21 L22 40 Z M81 3 L53 21 L78 40 Z', main),
  path('M24 12 L38 21 L25 31 Z M76 12 L62 21 L75 31 Z', shade(main, -0.24)),
  path('M16 37 C22 22 38 17 50 17 C62 17 78 22 84 37 C86 46 66 56 50 69 C34 56 14 46 16 37 Z', main),
  path('M16 37 C30 39 42 45 50 69 C34 56 14 48 16 37 Z M84 37 C70 39 58 45 50 69 C66 56 86 48 84 37 Z', paper),
  ...eye(37, 38, 3.6, ink),
  ...eye(63, 38, 3.6, ink),
  ellipse(50, 65, 5, 4, ink),
  path('M38 100 C38 94 46 94 46 100 Z M54 100 C54 94 62 94 62 100 Z', shade(main, -0.24)),
]

/** Motifs that the icon set lacks or draws less well. */
export const OWN = [
  motif('mountain', 'ground', 0.62, ['peak', 'alps', 'summit'], ({ paper, main, second }) => [
    path('M-14 100 L28 30 L66 100 Z', shade(second, -0.1)),
    path('M10 100 L58 6 L112 100 Z', main),
    path('M58 6 L112 100 H66 Z', shade(main, -0.09)),
    path('M58 6 L76 37 L68 34 L62 42 L55 34 L47 40 L41.5 38.5 Z', paper),
  ]),
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
  motif('skyscraper', 'ground', 0.74, ['tower', 'high-rise'], ({ paper, ink, main, second, accent }) => [
    rect(10, 46, 26, 54, mix(second, ink, 0.15)),
    rect(66, 34, 26, 66, mix(second, paper, 0.2)),
    rect(30, 12, 40, 88, main),
    rect(50, 12, 20, 88, shade(main, -0.06)),
    rect(48.8, -4, 2.4, 16, ink),
    ...windows(35, 19, 4, 11, [8, 7], mix(accent, paper, 0.3)),
    ...windows(14, 52, 2, 6, [9, 7.4], mix(accent, paper, 0.55)),
    ...windows(74, 41, 2, 7, [7.4, 7.6], mix(accent, ink, 0.25)),
    rect(45, 90, 10, 10, ink),
  ]),
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
        group([
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
      [
        ...[20, 110, 200, 290].map((rotate) =>
          group(
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
  motif('igloo', 'ground', 0.34, [], ({ paper, ink, second }) => [
    path('M4 100 A46 46 0 0 1 96 100 Z', mix(paper, second, 0.2)),
    line('M12 74 H88 M26 57 H74 M50 54 V74 M30 74 V100 M70 74 V100', mix(second, ink, 0.15), 1.6),
    ellipse(50, 100, 17, 20, mix(paper, second, 0.05)),
    path('M38 100 V92 A12 12 0 0 1 62 92 V100 Z', ink),
  ]),
  motif('hot air balloon', 'sky', 0.58, ['hot-air balloon', 'air balloon'], ({ paper, ink, main, second, accent }) => [
    path('M50 2 C82 2 92 30 86 48 C80 62 66 70 60 78 H40 C34 70 20 62 14 48 C8 30 18 2 50 2 Z', main),
    path('M50 2 C66 2 76 28 70 48 C66 62 58 70 56 78 H44 C42 70 34 62 30 48 C24 28 34 2 50 2 Z', accent),
    path('M50 2 C57 2 61 28 58 48 C56 62 53 70 52 78 H48 C47 70 44 62 42 48 C39 28 43 2 50 2 Z', paper),
    path('M11.6 38 C26 46 74 46 88.4 38 C88.4 42 87.5 45 86 48 C72 56 28 56 14 48 C12.5 45 11.6 42 11.6 38 Z', second, {
      opacity: 0.75,
    }),
    line('M41 78 L43 88 M59 78 L57 88', ink, 1.4),
    rect(41, 88, 18, 12, mix(ink, accent, 0.45), { radius: 2 }),
    rect(41, 88, 18, 3.4, ink, { radius: 1 }),
  ]),
  motif('submarine', 'water', 0.34, [], ({ paper, ink, main, accent }) => [
    line('M48 34 V14 H60', ink, 4),
    path('M36 50 L40 32 H62 L66 50 Z', shade(main, -0.06)),
    ellipse(50, 70, 48, 25, main),
    path('M4 78 A48 25 0 0 0 96 78 Z', shade(main, -0.1)),
    ...[30, 50, 70].flatMap((x) => [circle(x, 66, 7, ink), circle(x, 66, 4.6, mix(paper, accent, 0.3))]),
    path('M2 70 L-10 58 V82 Z', accent),
  ]),
  motif('fox', 'ground', 0.46, ['vixen'], (palette) => pointed(palette, palette.paper), '#d9702b'),
  motif('wolf', 'ground', 0.48, [], (palette) => pointed(palette, shade(palette.main, -0.2)), '#7d8794'),
  motif(
    'robot',
    'ground',
    0.52,
    ['android', 'ai', 'bot', 'chatbot', 'automation', 'machine learning', 'artificial intelligence'],
    ({ paper, ink, main, second, accent }) => [
      line('M50 14 V4', ink, 3),
      circle(50, 4, 4, accent),
      rect(38, 90, 9, 10, ink, { radius: 2 }),
      rect(53, 90, 9, 10, ink, { radius: 2 }),
      rect(12, 56, 10, 28, shade(main, -0.08), { radius: 5 }),
      rect(78, 56, 10, 28, shade(main, -0.08), { radius: 5 }),
      rect(24, 52, 52, 40, main, { radius: 8 }),
      rect(34, 62, 32, 18, mix(paper, second, 0.3), { radius: 3 }),
      line('M38 72 h6 l3 -5 l5 9 l3 -4 h7', shade(main, -0.14), 1.8),
      rect(20, 14, 60, 36, shade(main, 0.07), { radius: 11 }),
      rect(27, 21, 46, 22, ink, { radius: 8 }),
      circle(39, 32, 5, accent),
      circle(61, 32, 5, accent),
      rect(15, 26, 6, 12, accent, { radius: 3 }),
      rect(79, 26, 6, 12, accent, { radius: 3 }),
    ],
  ),
]
