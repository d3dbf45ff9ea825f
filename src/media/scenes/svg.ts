import { xmlText } from '../../kernel/text'
import type { Color, Gradient, Group, Look, Paint, Scene, Shape } from './model'
import { outlineOf, widthOf } from './typeface'

/** Renders a scene as SVG. Text becomes outlines, so that it looks the same everywhere. */
export function toSvg({ width, height, background, shapes, title }: Scene): string {
  const defs: string[] = []
  const ground = paintOf(background, defs)
  const body = shapes.map((shape) => drawn(shape, defs)).join('')
  // Escapes the title, so that the caller's text cannot be read as markup.
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<title>${xmlText(title).replace(/[<>&"]/g, (mark) => `&#${mark.charCodeAt(0)};`)}</title><defs>${defs.join('')}</defs>` +
    `<rect width="${width}" height="${height}" fill="${ground}"/>${body}</svg>`
  )
}

function drawn(shape: Shape, defs: string[]): string {
  switch (shape.type) {
    case 'rect': {
      const { x, y, width, height, radius } = shape
      const round = radius ? ` rx="${radius}"` : ''
      return `<rect x="${x}" y="${y}" width="${width}" height="${height}"${round}${lookOf(shape, defs)}/>`
    }
    case 'circle':
      return `<circle cx="${shape.x}" cy="${shape.y}" r="${shape.r}"${lookOf(shape, defs)}/>`
    case 'ellipse':
      return `<ellipse cx="${shape.x}" cy="${shape.y}" rx="${shape.rx}" ry="${shape.ry}"${lookOf(shape, defs)}/>`
    case 'path':
      return `<path d="${shape.d}"${lookOf(shape, defs)}/>`
    case 'text': {
      const { text, x, y, anchor } = shape
      const shift = { start: 0, middle: 0.5, end: 1 }[anchor] * widthOf(text, shape)
      return `<path d="${outlineOf(text, x - shift, y, shape)}"${lookOf(shape, defs)}/>`
    }
    case 'icon':
      return shape.body
    case 'group':
      return grouped(shape, defs)
  }
}

function grouped({ children, x = 0, y = 0, scale = 1, flip, rotate, opacity, clip }: Group, defs: string[]): string {
  const moves = [
    x || y ? `translate(${short(x)} ${short(y)})` : '',
    rotate ? `rotate(${short(rotate)})` : '',
    scale !== 1 || flip ? `scale(${short(flip ? -scale : scale)} ${short(scale)})` : '',
  ].filter(Boolean)
  const attributes = [
    moves.length ? ` transform="${moves.join(' ')}"` : '',
    opacity === undefined ? '' : ` opacity="${short(opacity)}"`,
    clip ? ` clip-path="url(#${defined(defs, 'clipPath', '', drawn(clip, defs))})"` : '',
  ].join('')
  return `<g${attributes}>${children.map((child) => drawn(child, defs)).join('')}</g>`
}

const short = (value: number): string => String(Math.round(value * 1_000) / 1_000)

function lookOf({ fill, stroke, strokeWidth, opacity, cap }: Look, defs: string[]): string {
  return [
    ` fill="${fill ? paintOf(fill, defs) : 'none'}"`,
    stroke ? ` stroke="${stroke}" stroke-width="${short(strokeWidth ?? 1)}" stroke-linejoin="round"` : '',
    stroke && cap ? ` stroke-linecap="${cap}"` : '',
    opacity === undefined ? '' : ` opacity="${short(opacity)}"`,
  ].join('')
}

const paintOf = (paint: Paint, defs: string[]): Color | string =>
  typeof paint === 'string' ? paint : `url(#${gradientOf(paint, defs)})`

function gradientOf({ angle, stops }: Gradient, defs: string[]): string {
  const turn = (angle * Math.PI) / 180
  const [dx, dy] = [Math.cos(turn) / 2, Math.sin(turn) / 2]
  const ends = `x1="${short(0.5 - dx)}" y1="${short(0.5 - dy)}" x2="${short(0.5 + dx)}" y2="${short(0.5 + dy)}"`
  const inside = stops.map(({ at, color }) => `<stop offset="${at}" stop-color="${color}"/>`)
  return defined(defs, 'linearGradient', ` ${ends}`, inside.join(''))
}

/** Adds an element to `defs`. The id is a counter, so that it contains no text of the caller. */
function defined(defs: string[], tag: string, attributes: string, inside: string): string {
  const id = `d${defs.length}`
  defs.push(`<${tag} id="${id}"${attributes}>${inside}</${tag}>`)
  return id
}
