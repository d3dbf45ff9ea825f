import { storeAnswer } from '../../idempotency'
import type { Call } from '../../kernel/caller'
import { isBlank } from '../../kernel/text'
import { blankMessage } from '../errors'
import { canvasRepository as rows } from '../repository'
import type { CanvasProblem, CanvasStep, TestOrder } from '../schema'
import { askOfTry, type Tried } from '../try-out'
import { type CanvasDeps, compileRow, owned, ownedLocked, recordOn, touched } from './deps'

export type Built = {
  compiled: true
  manifest: Record<string, unknown>
  steps: CanvasStep[]
  errors: []
  warnings: string[]
}
/** Why a canvas did not compile; nothing was changed. */
export type Unbuilt = { problems: CanvasProblem[] }

/** Compiles and tests canvases. */
export function createBuild(deps: CanvasDeps) {
  const { store, clock, completions } = deps
  return { compile, test }

  /** `POST …/compile`: stores the result of a successful compilation and sets the status to `testing`. */
  function compile(call: Call, id: string): Promise<Built | Unbuilt> {
    return store.write(async (tx) => {
      const row = await ownedLocked(deps, tx, call.caller, id)
      const built = compileRow(row)
      if (!built.compiled) return { problems: built.problems }
      const { manifest, steps, warnings } = built
      await rows.update(tx, row, { manifest, steps, status: 'testing', updated_at: touched(clock, row) })
      await recordOn(deps, tx, call, row, { action: 'canvas.compiled' })
      return storeAnswer(tx, call, { compiled: true as const, manifest, steps, errors: [] as [], warnings })
    })
  }

  /**
   * `POST …/test`: answers one message with the canvas in its current state, billed like any completion. Throws 404,
   * 400, 402, 429, and engine errors.
   */
  async function test(call: Call, id: string, order: TestOrder): Promise<Tried | Unbuilt> {
    const row = await owned(store.read, call.caller, id)
    if (isBlank(order.message)) throw blankMessage()
    const built = compileRow(row)
    if (!built.compiled) return { problems: built.problems }
    const ask = askOfTry({ ...built, order }, (tx) => recordOn(deps, tx, call, row, { action: 'canvas.tested' }))
    return completions.pipeline.complete(call, ask)
  }
}
