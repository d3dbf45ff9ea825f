import type { Call } from '../kernel/caller'
import { AppError } from '../kernel/errors'
import { errorFields, type Log } from '../kernel/log'
import type { Tool } from '../tools'
import { sessionNotFound } from './errors'
import type { ActionOrder, ActionResult, NewSession, SessionHandle } from './schema'
import type { Actor } from './schema-recording'
import type { SessionRow } from './table'
import { toolsOf } from './tools'

type Deps = {
  log: Log
  start(call: Call, order: NewSession): Promise<SessionHandle>
  action(call: Call, id: string, order: ActionOrder, by: Actor, kept: boolean): Promise<ActionResult>
  stop(call: Call, id: string): Promise<unknown>
  own(call: Call, id: string): Promise<SessionRow>
  /** Why no session can be started; null when one can. */
  unavailable(): string | null
}

/** The browser tools as runs get them (contract 16.4). Of what a stealth run does nothing is kept. */
export function createAgentTools({ log, start, action, stop, own, unavailable }: Deps) {
  return {
    /** The tools as they are listed. */
    listedTools: (): Tool[] => toolsOf(null, unavailable),

    /** Bound to a session of the run's caller. Throws 404 `session_not_found`. */
    async toolsFor(call: Call, id: string, stealth: boolean): Promise<Tool[]> {
      const row = await own(call, id)
      if (row.state === 'ended') throw sessionNotFound()
      return toolsOf((by, tool, args) => action(by, row.id, { tool, arguments: args }, 'agent', !stealth), unavailable)
    },

    /**
     * Those of a run without a session: the first that is called begins one, for the run's caller and at its cost, and
     * `end` ends it with the run.
     */
    toolsOfRun(call: Call, stealth: boolean): { tools: Tool[]; end(): void } {
      let begun: Promise<string> | null = null
      const begin = async (by: Call) => (await start({ ...by, once: undefined }, { record: !stealth })).session_id
      const tools = toolsOf(async (by, tool, args) => {
        begun ??= begin(by)
        return action(by, await begun, { tool, arguments: args }, 'agent', !stealth)
      }, unavailable)
      const end = () => {
        begun
          ?.then((id) => stop({ ...call, once: undefined }, id))
          .catch((error: unknown) => {
            // One that never began is over.
            if (!(error instanceof AppError)) log.warn(errorFields(error), 'the session of a run was not ended')
          })
      }
      return { tools, end }
    },
  }
}
