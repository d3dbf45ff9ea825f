import { mix, shade } from '../color'
import { circle, line, path, rect } from '../model'
import { motif } from './motif'

export const HOUSEHOLD = [
  motif('chair', 'table', 0.46, ['sofa', 'armchair', 'furniture', 'couch', 'living room'], ({ ink, main, accent }) => [
    line('M22 90 L18 100 M78 90 L82 100', ink, 5),
    path('M18 58 V28 Q18 10 36 10 H64 Q82 10 82 28 V58 Z', main),
    path('M50 10 H64 Q82 10 82 28 V58 H50 Z', shade(main, -0.04)),
    rect(16, 56, 68, 24, shade(main, 0.06), { radius: 6 }),
    path(
      'M4 54 Q4 44 13 44 Q22 44 22 54 V74 H78 V54 Q78 44 87 44 Q96 44 96 54 V84 Q96 92 88 92 H12 Q4 92 4 84 Z',
      shade(main, -0.1),
    ),
    rect(38, 34, 24, 22, accent, { radius: 4 }),
  ]),
  motif('guitar', 'table', 0.56, ['music', 'band', 'concert', 'song'], ({ ink, main, accent }) => [
    {
      type: 'group',
      x: 50,
      y: 50,
      rotate: 28,
      children: [
        rect(-3.6, -56, 7.2, 52, mix(ink, accent, 0.25)),
        rect(-6, -66, 12, 14, ink, { radius: 3 }),
        path(
          'M0 -8 C18 -8 18 6 13 12 C8 18 26 24 26 36 C26 52 14 58 0 58 C-14 58 -26 52 -26 36 C-26 24 -8 18 -13 12 C-18 6 -18 -8 0 -8 Z',
          main,
        ),
        circle(0, 22, 9, ink),
        rect(-9, 42, 18, 4, ink),
        line('M-2 -60 V44 M0 -60 V44 M2 -60 V44', '#ffffff', 0.5, { opacity: 0.8 }),
      ],
    },
  ]),
  motif('umbrella', 'ground', 0.48, ['parasol'], ({ ink, main, accent }) => [
    line('M50 10 V86 Q50 97 60 97 Q69 97 69 88', ink, 4),
    path(
      'M2 54 C4 24 26 8 50 8 C74 8 96 24 98 54 Q90 46 82 54 Q74 46 66 54 Q58 46 50 54 Q42 46 34 54 Q26 46 18 54 Q10 46 2 54 Z',
      main,
    ),
    path('M34 54 C36 30 42 14 50 8 C58 14 64 30 66 54 Q58 46 50 54 Q42 46 34 54 Z', accent),
    line('M50 2 V10', ink, 4),
  ]),
]
