import { storeAnswer } from '../../idempotency'
import type { Call } from '../../kernel/caller'
import { isBlank } from '../../kernel/text'
import { blankMessage } from '../errors'
import type { CanvasProblem, CanvasStep, TestOrder } from '../schema'
import { requestOfTry, type Tried } from '../try-out'
import { type Canvases, compileRow } from './deps'

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
export function createBuild({ resources: { store }, canvases, completions }: Canvases) {
  return { compile, test }

  /** `POST …/compile`: stores the result of a successful compilation and sets the status to `testing`. */
  function compile(call: Call, id: string): Promise<Built | Unbuilt> {
    return store.write(async (tx) => {
      const row = await canvases.findToChange(tx, call.caller, id)
      const built = compileRow(row)
      if (!built.compiled) return { problems: built.problems }
      const { manifest, steps, warnings } = built
      await canvases.change(tx, { call, verb: 'compiled', row }, { manifest, steps, status: 'testing' })
      return storeAnswer(tx, call, { compiled: true as const, manifest, steps, errors: [] as [], warnings })
    })
  }

  /**
   * `POST …/test`: answers one message with the canvas in its current state, billed like any completion. Throws 404,
   * 400, 402, 429, and engine errors.
   */
  async function test(call: Call, id: string, order: TestOrder): Promise<Tried | Unbuilt> {
    const row = await canvases.find(store.read, call.caller, id)
    if (isBlank(order.message)) throw blankMessage()
    const built = compileRow(row)
    if (!built.compiled) return { problems: built.problems }
    const request = requestOfTry({ ...built, order }, (tx) => canvases.record(tx, { call, verb: 'tested', row }))
    return completions.pipeline.complete(call, request)
  }
}
