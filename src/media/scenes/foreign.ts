import type { PathCommand } from 'opentype.js'
import { fontOf } from '../../files'

/** An outline, an em being 1 and y going down, and how far the next one is. */
export type Glyph = {
  commands: readonly PathCommand[]
  advance: number
  /** Its place follows from its neighbours. */
  isShaped?: true
}

const MAX_KNOWN = 1_000
const known = new Map<string, Glyph[]>()

/** Words in another alphabet, their letters joined and set as that font says. */
export function foreignGlyphs(words: string, file: string): Glyph[] {
  const name = `${file} ${words}`
  const found = known.get(name)
  if (found) return found
  const font = fontOf(file)
  const em = font.unitsPerEm
  const { glyphs, positions } = font.layout(words)
  const made = glyphs.map(({ path }, at): Glyph => {
    const { xAdvance, xOffset, yOffset } = positions[at]!
    const place = (x: number, y: number): [number, number] => [(x + xOffset) / em, -(y + yOffset) / em]
    return {
      commands: path.commands.map((command) => converted(command, place)),
      advance: xAdvance / em,
      isShaped: true,
    }
  })
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(name, made)
  return made
}

type Drawn = { command: string; args: number[] }

function converted({ command, args }: Drawn, place: (x: number, y: number) => [number, number]): PathCommand {
  const points = Array.from({ length: args.length / 2 }, (_, at) => place(args[2 * at]!, args[2 * at + 1]!))
  const [[x = 0, y = 0] = []] = points.slice(-1)
  const [[x1 = 0, y1 = 0] = [], [x2 = 0, y2 = 0] = []] = points
  switch (command) {
    case 'moveTo':
      return { type: 'M', x, y }
    case 'lineTo':
      return { type: 'L', x, y }
    case 'quadraticCurveTo':
      return { type: 'Q', x1, y1, x, y }
    case 'bezierCurveTo':
      return { type: 'C', x1, y1, x2, y2, x, y }
    default:
      return { type: 'Z' }
  }
}
