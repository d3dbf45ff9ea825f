import type { Call } from '../kernel/caller'
import { AppError } from '../kernel/errors'
import { errorFields } from '../kernel/log'
import type { Tool } from '../tools'
import { answerAll } from './calls'
import { isConfigured } from './chromium'
import { createControl } from './control'
import type { Deps, OtherModules } from './deps'
import { createEmbed } from './embed'
import { browserErrors } from './errors'
import { createHost } from './host'
import { createEmbedTokens } from './present'
import { actIn, closeAll, findSession, loseSessions, renew, serve, stopSession } from './sessions'
import { startSession } from './start'
import { toolsOf } from './tools'
import { createWatch } from './watch-loop'

export type BrowserService = ReturnType<typeof createBrowser>

/** Browser sessions: a real browser that an agent uses and a person watches (docs/api.md 16). */
export function createBrowser(modules: OtherModules) {
  const { settings, masterKey, live, node } = modules
  const host = createHost({
    ...modules,
    onLost: (ids) => void loseSessions(deps, ids),
    onReplaced: (id) => renew(deps, id),
  })
  const deps: Deps = {
    ...modules,
    host,
    control: createControl({ ...modules, find: host.find }),
    tokens: createEmbedTokens({ masterKey, secret: settings.browserEmbedTokenSecret }),
  }
  const answerCalls = () => answerAll(deps, (...asked) => serve(deps, ...asked))
  live.subscribe('browser.call', node, () => void answerCalls().catch(() => undefined))
  return {
    deps,
    host,
    embed: createEmbed(deps),
    watch: createWatch(deps, answerCalls),
    close: () => closeAll(deps),
    ...createAgentTools(deps),
  }
}

/** The browser tools for agent runs (docs/api.md 16.4). Stealth runs record nothing. */
function createAgentTools(deps: Deps) {
  const unavailable = () => (isConfigured(deps.settings) ? null : 'This server has no browser.')
  return {
    /** The tools for listings. */
    listedTools: (): Tool[] => toolsOf(null, unavailable),

    /** The tools for an existing session of the run's caller. Throws 404 `session_not_found`. */
    async toolsFor(call: Call, id: string, stealth: boolean): Promise<Tool[]> {
      const row = await findSession(deps, call, id)
      if (row.state === 'ended') throw browserErrors.sessionNotFound()
      const how = { by: 'agent' as const, recorded: !stealth }
      return toolsOf((by, tool, args) => actIn(deps, by, row.id, { tool, arguments: args }, how), unavailable)
    },

    /**
     * The tools for a run without a session. The first tool call starts one, for the run's caller and at its cost.
     * `end` ends it with the run.
     */
    toolsOfRun(call: Call, stealth: boolean): { tools: Tool[]; end(): void } {
      let begun: Promise<string> | null = null
      const how = { by: 'agent' as const, recorded: !stealth }
      const tools = toolsOf(async (by, tool, args) => {
        begun ??= startSession(deps, { ...by, once: undefined }, { record: !stealth }).then((made) => made.session_id)
        return actIn(deps, by, await begun, { tool, arguments: args }, how)
      }, unavailable)
      const end = () => {
        begun
          ?.then((id) => stopSession(deps, { ...call, once: undefined }, id))
          .catch((error: unknown) => {
            // If starting the session failed, there is nothing to end.
            if (!(error instanceof AppError)) deps.log.warn(errorFields(error), 'the session of a run was not ended')
          })
      }
      return { tools, end }
    },
  }
}
