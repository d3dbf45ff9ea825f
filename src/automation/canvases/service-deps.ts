import type { CompletionService } from '../../completions'
import type { Values } from '../../kernel/config'
import type { Resource, ResourceDeps } from '../../resource'
import type { SkillService } from '../../skills'
import { type Compilation, compileCanvas } from './compile'
import type { canvasSettings } from './config'
import type { About } from './manifest'
import type { canvas } from './resource'
import { slugOf, titleOf } from './rules'
import type { CanvasRow } from './table'

export type CanvasDeps = {
  resources: ResourceDeps
  skills: Pick<SkillService, 'examine' | 'submitIn' | 'get'>
  completions: CompletionService
  settings: Values<typeof canvasSettings>
}

/** What the verbs of their own use: the declared resource beside the rooms. */
export type Canvases = CanvasDeps & { canvases: Resource<typeof canvas> }

/** State after the graph changed: a draft without a compilation. */
export const UNCOMPILED = { status: 'draft', manifest: null, steps: null } as const

/** Version and author in the manifest of an unpublished canvas. */
const UNPUBLISHED = { version: '1.0.0', author: { name: 'Canvas author' } }

/** Compiles the current graph; `about` overrides the manifest members derived from the canvas. */
export function compileRow({ graph, name, description }: CanvasRow, about: Partial<About> = {}): Compilation {
  return compileCanvas(graph, {
    name: titleOf(name),
    description: description ?? '',
    slug: slugOf(name),
    ...UNPUBLISHED,
    ...about,
  })
}
