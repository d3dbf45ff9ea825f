import { contrast, isDark, mix, shade, tone } from './color'
import type { Color, Look, Paint, Scene, Shape } from './model'
import type { Palette } from './palette'

const flat = (paint: Paint): Color => (typeof paint === 'string' ? paint : paint.stops[0]!.color)

/** The scene by its outlines: every form is filled with the ground and edged. */
export function outlined(scene: Scene, palette: Palette, glows: boolean): Scene {
  const ground = palette.paper
  const draw = (look: Look, isText: boolean, scale: number): Look => {
    const own = flat(look.fill ?? look.stroke ?? palette.ink)
    const bright = glows ? tone(own, Math.max(0.68, isDark(ground) ? 0.72 : 0.5), 1.4) : palette.ink
    if (isText || !look.fill) return { ...look, ...(look.fill ? { fill: bright } : { stroke: bright }) }
    const isFaint = (look.opacity ?? 1) < 0.3
    if (isFaint) return { ...look, opacity: 0 }
    const filled = glows ? mix(ground, own, 0.22) : contrast(own, ground) > 7 ? mix(ground, palette.ink, 0.16) : ground
    return {
      ...look,
      fill: filled,
      stroke: bright,
      strokeWidth: ((scene.width / 1000) * (glows ? 4 : 2.6)) / scale,
      opacity: 1,
    }
  }
  const visit = (shape: Shape, scale: number): Shape => {
    if (shape.type === 'group')
      return { ...shape, children: shape.children.map((child) => visit(child, scale * (shape.scale ?? 1))) }
    return { ...shape, ...draw(shape, shape.type === 'text', scale) } as Shape
  }
  return {
    ...scene,
    background: glows ? shade(ground, -0.02) : ground,
    shapes: scene.shapes.map((shape) => visit(shape, 1)),
  }
}
