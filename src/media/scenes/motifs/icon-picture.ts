import { readFileSync } from 'node:fs'
import { Resvg } from '@resvg/resvg-js'
import { type Color, type Group, group } from '../model'
import { colorOf, mix, oklchOf, type Palette, tone } from '../palette'

/** An icon of the set: its markup, the bounding box of its ink in 32 by 32 units, and its main colour. */
type Icon = { body: string; x: number; y: number; width: number; height: number; main: Color }

const read = new Map<string, Icon>()

/** Reads only one icon of the 9 MB file, which is one object with a line for each name. */
function iconOf(name: string): Icon {
  const file = readFileSync(Bun.resolveSync('@iconify-json/fluent-emoji-flat/icons.json', import.meta.dir))
  const start = file.indexOf('{', file.indexOf(`\n\t\t"${name}": {`))
  const { body } = JSON.parse(file.toString('utf8', start, file.indexOf('\n\t\t}', start) + 4)) as { body: string }
  return measured(body)
}

/** Side length in pixels at which an icon is measured. */
const SIDE = 64

function measured(body: string): Icon {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${SIDE}" height="${SIDE}" viewBox="0 0 32 32">${body}</svg>`
  const { pixels } = new Resvg(svg, { font: { loadSystemFonts: false } }).render()
  const counts = new Map<Color, number>()
  let [left, top, right, bottom] = [SIDE, SIDE, 0, 0]
  for (let at = 0; at < SIDE * SIDE; at += 1) {
    if (pixels[at * 4 + 3]! < 128) continue
    const [x, y] = [at % SIDE, Math.floor(at / SIDE)]
    ;[left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x + 1), Math.max(bottom, y + 1)]
    const color: Color = `#${pixels.subarray(at * 4, at * 4 + 3).toHex()}`
    counts.set(color, (counts.get(color) ?? 0) + 1)
  }
  const [main = '#808080'] = [...counts].toSorted((a, b) => b[1] - a[1])[0] ?? []
  const unit = 32 / SIDE
  return { body, x: left * unit, y: top * unit, width: (right - left) * unit, height: (bottom - top) * unit, main }
}

/** The icon with this name in a box of 100 by 100, centred at the bottom. */
export function iconPicture(name: string, palette: Palette): Group {
  const { body, x, y, width, height, main } = read.getOrInsertComputed(name, iconOf)
  const scale = 100 / Math.max(width, height)
  const tint = palette.tint ?? (palette.mood === 'neon' ? palette.main : null)
  const look = (color: Color): Color => inMood(tint ? tinted(color, main, tint) : color, palette)
  return group([{ type: 'icon', body: repainted(body, look) }], {
    x: 50 - (x + width / 2) * scale,
    y: 100 - (y + height) * scale,
    scale,
  })
}

/** Replaces every colour in the markup. */
export const repainted = (body: string, look: (color: Color) => string): string =>
  body.replace(/"(#[0-9a-f]{3}(?:[0-9a-f]{3})?)"/g, (_, found: string) => {
    const long = found.length === 4 ? `#${[...found.slice(1)].map((digit) => digit + digit).join('')}` : found
    return `"${look(long as Color)}"`
  })

/** Shifts colours that are close to the main colour towards the tint. Keeps the others. */
function tinted(color: Color, main: Color, tint: Color): Color {
  const [own, from, to] = [oklchOf(color), oklchOf(main), oklchOf(tint)]
  const apart = Math.abs(((own.h - from.h + 540) % 360) - 180)
  const isGrey = from.c < 0.04
  if (isGrey ? own.c > 0.06 || own.l < 0.3 : own.c < 0.03 || apart > 50) return color
  return colorOf({
    l: Math.min(0.97, Math.max(0.12, to.l + (own.l - from.l) * 0.8)),
    c: isGrey ? to.c : to.c * Math.min(1.2, own.c / from.c),
    h: to.h,
  })
}

function inMood(color: Color, { mood, isNight }: Palette): Color {
  switch (mood) {
    case 'mono':
      return tone(color, oklchOf(color).l, 0)
    case 'pastel':
      return mix(tone(color, 0.35 + oklchOf(color).l * 0.62, 0.75), '#ffffff', 0.15)
    case 'retro':
      return mix(tone(color, oklchOf(color).l, 0.8), '#d9a679', 0.22)
    default:
      return isNight ? mix(color, '#26305e', 0.2) : color
  }
}
