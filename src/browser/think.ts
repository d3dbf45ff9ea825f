import { type EngineService, type JsonSchema, type Message, originOf } from '../engines'
import type { Call, Caller } from '../kernel/caller'
import { randomHex } from '../kernel/crypto'
import { storable } from '../kernel/text'
import type { MakingService } from '../making'
import type { Step } from '../text'
import { ToolFailure, validatorOf } from '../tools'
import type { OpenSession } from './host'
import type { PageContent } from './page-facts'
import { ACTIVE } from './roles'
import { extractMessages, type Planned, readJson, readPlan, stepMessages } from './think-words'
import { readTree } from './tree'

/** What an engine makes of an instruction that the built-in reader does not understand; null without an engine. */
export type Thinker = {
  steps(session: OpenSession, instruction: string, signal: AbortSignal): Promise<{ steps: Step[] } | null>
  extract(
    content: PageContent,
    instruction: string,
    schema: JsonSchema | undefined,
    signal: AbortSignal,
  ): Promise<{ data: unknown } | null>
}

/** Without an engine, what the built-in reader does not understand is not done. */
const noThinker: Thinker = { steps: async () => null, extract: async () => null }

type Deps = {
  engines: Pick<EngineService, 'answer' | 'forMode' | 'isConnected' | 'isFree' | 'countPrompt'>
  making: Pick<MakingService, 'run'>
}

const MODE = 'think'
const MOST_TOKENS = 2_000
const MOST_ELEMENTS = 150

/**
 * What a configured engine adds, for the caller who pays for it as for any call of one: rate, credit, policy, record. An
 * operator pays nothing, and gets none. What the engine says is checked: it can only do, to elements of the page in
 * front, what a step can do, and name no address.
 */
export const createThinkers =
  ({ engines, making }: Deps) =>
  (call: Call<Caller>, spent: (costMicro: number) => void): Thinker => {
    const engineId = engines.forMode(MODE)
    if (call.caller.type === 'operator' || !engines.isConnected(engineId) || engines.isFree(engineId)) return noThinker
    return { steps, extract }

    async function steps(session: OpenSession, instruction: string, signal: AbortSignal) {
      const elements = (await readTree(session.live.page(), session.refs))
        .filter(({ role, disabled }) => ACTIVE.has(role) && !disabled)
        .slice(0, MOST_ELEMENTS)
      const facts = await session.live.facts(session.live.page())
      const said = await ask(instruction, (text) => stepMessages(text, facts, elements), signal)
      const planned: Planned = readPlan(said, new Set(elements.map(({ ref }) => ref)))
      if ('cannot' in planned) throw new ToolFailure(`This cannot be done on this page: ${planned.cannot}`)
      return { steps: planned.steps }
    }

    async function extract(
      content: PageContent,
      instruction: string,
      schema: JsonSchema | undefined,
      signal: AbortSignal,
    ) {
      const said = await ask(instruction, (text) => extractMessages(text, content, schema), signal)
      const found = readJson(said) as { data?: unknown } | null
      if (found?.data === undefined) return null
      if (schema && validatorOf(schema)(found.data as never)) return null
      return { data: found.data }
    }

    async function ask(
      instruction: string,
      messagesFor: (instruction: string) => Message[],
      signal: AbortSignal,
    ): Promise<string> {
      const promptTokens = engines.countPrompt(messagesFor(instruction))
      // The action stores the answer to the request; this is only a part of it.
      const alone: Call = { ...(call as Call), once: undefined, signal }
      const { said, costMicro } = await making.run(alone, {
        kind: 'browser_step',
        id: `brw_${randomHex(12)}`,
        mode: MODE,
        engineId,
        free: false,
        texts: { instruction },
        most: { promptTokens, completionTokens: MOST_TOKENS },
        make: async (work) => {
          const messages = messagesFor(work.texts.instruction!)
          const { text, usage, ...by } = await engines.answer(engineId, {
            messages,
            mode: MODE,
            temperature: 0,
            maxOutputTokens: MOST_TOKENS,
            json: true,
            origin: originOf(work.call),
            signal: work.signal,
          })
          const { text: said, withheld } = await work.guardOutput(storable(text))
          if (withheld) throw new ToolFailure('The guardrail policy withheld what the engine read from the page.')
          const { promptTokens, completionTokens } = usage
          return { used: { promptTokens, completionTokens }, engineId: by.engineId, free: by.free, files: [], said }
        },
        answer: ({ made, costMicro }) => ({ said: made.said, costMicro }),
      })
      spent(costMicro)
      return said
    }
  }
