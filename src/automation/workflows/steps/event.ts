import { type FanOut, isReserved } from '../../../events'
import { EventId } from '../../../events/schema'
import type { Clock } from '../../../kernel/clock'
import { isEventType } from '../review'
import { StepFailure, type StepRunner } from './step'

const MAX_KB = 64

/** Puts an event on the bus of the workflow's owner, in the transaction of the step's result: once (I38). */
export const createEventStep =
  ({ fanOut, clock }: { fanOut: Pick<FanOut, 'publish'>; clock: Clock }): StepRunner<'event'> =>
  async ({ config, run }) => {
    const { eventType: type, payload = null } = config
    if (!isEventType(type))
      throw new StepFailure(
        `"${type.slice(0, 128)}" is not an event name. Use words joined by dots, such as order.paid.`,
      )
    if (isReserved(type)) throw new StepFailure(`"${type}" is the name of a server event.`)
    if (Buffer.byteLength(JSON.stringify(payload)) > MAX_KB * 1024)
      throw new StepFailure(`An event can have at most ${MAX_KB} KB.`)
    const id = EventId.create()
    const event = { id, type, scope: run.owner, created: clock.now(), data: { value: payload }, depth: run.depth + 1 }
    return { output: { eventId: id }, effects: (tx) => fanOut.publish(tx, event, 'workflow') }
  }
