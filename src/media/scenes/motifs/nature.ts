import { mix, shade } from '../color'
import { circle, ellipse, line, path, rect } from '../model'
import { motif } from './motif'

const petals = (x: number, y: number, r: number, count: number) =>
  Array.from({ length: count }, (_, at) => {
    const angle = (at / count) * 2 * Math.PI
    return [x + Math.cos(angle) * r, y + Math.sin(angle) * r] as const
  })

export const NATURE = [
  motif('tree', 'ground', 0.56, ['oak', 'maple', 'elm', 'orchard'], ({ ink, main, accent }) => [
    path('M45 100 C47 84 46 70 44 58 L56 58 C54 70 53 84 57 100 Z', mix(ink, accent, 0.3)),
    line('M50 72 L36 56 M50 66 L63 52', mix(ink, accent, 0.3), 3.4),
    circle(34, 44, 22, shade(main, -0.07)),
    circle(66, 42, 24, shade(main, -0.03)),
    circle(50, 26, 25, main),
    circle(43, 20, 12, shade(main, 0.07)),
    circle(66, 34, 8, shade(main, 0.05)),
  ]),
  motif(
    'pine',
    'ground',
    0.6,
    ['fir', 'spruce', 'conifer', 'christmas tree', 'evergreen', 'cypress'],
    ({ ink, main, accent }) => [
      rect(46, 84, 8, 16, mix(ink, accent, 0.25)),
      path('M50 42 L82 88 H18 Z', shade(main, -0.08)),
      path('M50 22 L75 64 H25 Z', shade(main, -0.02)),
      path('M50 2 L68 40 H32 Z', shade(main, 0.05)),
      path('M50 2 L50 40 H32 Z M50 22 L50 64 H25 Z M50 42 L50 88 H18 Z', '#ffffff', { opacity: 0.08 }),
    ],
  ),
  motif('palm', 'ground', 0.6, ['palm tree', 'coconut tree'], ({ ink, main, accent }) => [
    path('M47 100 C50 70 54 50 60 34 L66 36 C60 54 57 74 57 100 Z', mix(ink, accent, 0.4)),
    path('M63 35 C50 18 30 18 14 30 C34 26 48 30 63 35 Z', main),
    path('M63 35 C52 28 32 36 24 54 C40 42 52 38 63 35 Z', shade(main, -0.07)),
    path('M63 35 C68 16 84 10 98 18 C82 20 72 26 63 35 Z', shade(main, 0.05)),
    path('M63 35 C80 28 94 38 98 56 C86 44 74 38 63 35 Z', shade(main, -0.05)),
    path('M63 35 C58 18 62 6 74 0 C68 12 66 24 63 35 Z', shade(main, 0.09)),
    circle(60, 39, 4, mix(ink, accent, 0.2)),
    circle(67, 40, 4, mix(ink, accent, 0.3)),
  ]),
  motif(
    'flower',
    'ground',
    0.5,
    ['rose', 'tulip', 'daisy', 'sunflower', 'blossom', 'lily', 'bloom'],
    ({ ink, main, second, accent }) => [
      line('M50 46 C49 66 51 82 50 100', mix(second, ink, 0.45), 3.4),
      path('M50 84 C34 82 26 72 24 62 C40 62 49 72 50 84 Z', mix(second, ink, 0.3)),
      path('M50 76 C64 74 73 66 76 54 C60 55 51 65 50 76 Z', mix(second, ink, 0.18)),
      ...petals(50, 30, 15, 8).map(([x, y], at) => circle(x, y, 10, at % 2 ? main : shade(main, 0.06))),
      circle(50, 30, 10.5, accent),
      circle(48, 28, 5, shade(accent, 0.09)),
    ],
  ),
  motif('leaf', 'table', 0.52, ['leaves', 'fern', 'plant'], ({ main }) => [
    path('M50 98 C10 78 12 34 50 4 C88 34 90 78 50 98 Z', main),
    path('M50 98 C88 78 90 34 50 4 Z', shade(main, -0.08)),
    line(
      'M50 100 V18 M50 80 L30 62 M50 80 L70 62 M50 60 L31 42 M50 60 L69 42 M50 40 L38 28 M50 40 L62 28',
      shade(main, 0.18),
      1.8,
    ),
  ]),
  motif('cactus', 'ground', 0.5, ['succulent', 'saguaro'], ({ main, accent }) => [
    rect(40, 14, 20, 86, main, { radius: 10 }),
    path('M40 66 H30 C20 66 16 60 16 52 V40 A7 7 0 0 1 30 40 V50 Q30 53 33 53 H40 Z', shade(main, -0.05)),
    path('M60 56 H68 C78 56 83 50 83 42 V30 A7 7 0 0 0 69 30 V40 Q69 43 66 43 H60 Z', shade(main, -0.05)),
    line('M46 24 V92 M54 24 V92', shade(main, 0.09), 1.4),
    circle(50, 13, 6, accent),
    circle(50, 13, 2.4, shade(accent, 0.12)),
  ]),
  motif('mushroom', 'ground', 0.44, ['toadstool', 'fungus'], ({ paper, ink, main }) => [
    path('M40 58 C42 76 38 90 36 98 Q50 104 64 98 C62 90 58 76 60 58 Z', mix(paper, ink, 0.08)),
    path('M8 58 C8 26 30 8 50 8 C70 8 92 26 92 58 C74 66 26 66 8 58 Z', main),
    path('M8 58 C26 66 74 66 92 58 C76 70 24 70 8 58 Z', shade(main, -0.12)),
    circle(34, 36, 7, paper),
    circle(60, 26, 5.5, paper),
    circle(72, 46, 6, paper),
    circle(50, 50, 4, paper),
  ]),
  motif('mountain', 'ground', 0.62, ['peak', 'alps', 'volcano', 'summit'], ({ paper, main, second }) => [
    path('M-14 100 L28 30 L66 100 Z', shade(second, -0.1)),
    path('M10 100 L58 6 L112 100 Z', main),
    path('M58 6 L112 100 H66 Z', shade(main, -0.09)),
    path('M58 6 L76 37 L68 34 L62 42 L55 34 L47 40 L41.5 38.5 Z', paper),
  ]),
  motif('sun', 'sky', 0.34, ['sunshine'], ({ accent }) => [
    ...petals(50, 50, 42, 12).map(([x, y]) =>
      line(`M${50 + (x - 50) * 0.78} ${50 + (y - 50) * 0.78} L${x} ${y}`, accent, 4),
    ),
    circle(50, 50, 27, accent),
    circle(44, 44, 13, shade(accent, 0.06)),
  ]),
  motif('moon', 'sky', 0.32, ['crescent'], ({ accent, paper }) => [
    path('M66 8 A44 44 0 1 0 92 66 A36 36 0 1 1 66 8 Z', mix(accent, paper, 0.55)),
  ]),
  motif('cloud', 'sky', 0.26, [], ({ paper, second }) => [
    path('M20 78 A19 19 0 0 1 22 42 A26 26 0 0 1 70 34 A22 22 0 0 1 82 78 Z', paper),
    path('M20 78 A19 19 0 0 1 8 64 Q40 76 98 60 A22 22 0 0 1 82 78 Z', mix(paper, second, 0.35)),
  ]),
  motif('star', 'sky', 0.3, [], ({ accent }) => [
    path('M50 4 L63 37 L98 39 L71 61 L80 96 L50 77 L20 96 L29 61 L2 39 L37 37 Z', accent),
    path('M50 4 L50 77 L20 96 L29 61 L2 39 L37 37 Z', shade(accent, 0.05)),
  ]),
  motif('fire', 'ground', 0.4, ['flame', 'campfire', 'bonfire'], ({ ink, main, accent }) => [
    path(
      'M50 6 C58 30 84 40 80 70 C78 88 64 96 50 96 C34 96 20 86 20 68 C20 52 32 46 36 30 C42 38 44 42 44 48 C50 38 52 22 50 6 Z',
      main,
    ),
    path('M51 40 C56 54 68 60 66 76 C64 88 58 94 50 94 C40 94 34 86 34 76 C34 64 44 60 51 40 Z', accent),
    path('M50 64 C53 72 58 75 57 83 C56 90 53 93 50 93 C45 93 42 89 42 83 C42 76 47 73 50 64 Z', shade(accent, 0.12)),
    rect(14, 92, 72, 8, mix(ink, main, 0.2), { radius: 4 }),
  ]),
  motif('wave', 'water', 0.44, ['surf', 'tsunami'], ({ paper, main, second }) => [
    path(
      'M0 100 V70 C14 66 24 50 34 34 C46 14 70 6 88 20 C74 18 64 26 64 36 C64 48 78 54 90 46 C86 62 92 70 100 74 V100 Z',
      main,
    ),
    path('M0 100 V86 C16 82 26 66 38 48 C48 34 56 30 64 36 C60 48 70 62 100 84 V100 Z', mix(main, second, 0.6)),
    line('M34 34 C46 14 70 6 88 20', paper, 4),
    ellipse(90, 23, 5, 4, paper),
    ellipse(80, 15, 4, 3, paper),
  ]),
]
