import type { CompletionRequest } from '../../completions'
import { findEngine } from '../../engines'
import { storeAnswer } from '../../idempotency'
import type { Call } from '../../kernel/caller'
import { microToCents } from '../../kernel/money'
import { isBlank } from '../../kernel/text'
import { quotesOf, type SkillManifest } from '../../skills'
import { blankMessage } from './errors'
import type { CanvasProblem, CanvasStep, TestInput } from './schema'
import { type Canvases, compileRow } from './service-deps'

type Tried = { response: string | null; cost_cents: number }

/** Iterations in which a canvas under test may call tools. */
const ITERATIONS = 4

type Try = { manifest: SkillManifest; steps: readonly CanvasStep[]; order: TestInput }

/**
 * The system prompt: the canvas's prompts and the knowledge quotes for this message, chosen as for a published skill.
 */
const systemOf = (manifest: SkillManifest, message: string): string =>
  [manifest.systemPromptExtension, ...quotesOf(manifest, message)].filter(Boolean).join('\n\n')

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
  async function test(call: Call, id: string, input: TestInput): Promise<Tried | Unbuilt> {
    const row = await canvases.find(store.read, call.caller, id)
    if (isBlank(input.message)) throw blankMessage()
    const built = compileRow(row)
    if (!built.compiled) return { problems: built.problems }
    const request = requestOfTry({ ...built, order: input }, (tx) => canvases.record(tx, { call, verb: 'tested', row }))
    return completions.pipeline.complete(call, request)
  }
}

/**
 * The completion request that tests a canvas (contract 9.2): its prompts are the system prompt, its first model
 * answers, and its tools are acknowledged but never called. Nothing external is reached and no conversation is
 * stored.
 */
function requestOfTry(
  { manifest, steps, order: input }: Try,
  alongside: CompletionRequest['alongside'],
): CompletionRequest<Tried> {
  const engine = manifest.modelPreference ? findEngine(manifest.modelPreference) : null
  const writes = engine?.kind === 'text' && engine.mode !== 'auto' ? engine : null
  const temperature = steps.find(({ type }) => type === 'ai_transform')?.config.temperature
  const system = systemOf(manifest, input.message)
  return {
    prompt: input.message,
    mode: (writes?.mode as CompletionRequest['mode'] | undefined) ?? 'auto',
    engine: writes?.id ?? null,
    overrides: {},
    voice: {
      personality: null,
      style: null,
      branding: false,
      componentLibrary: 'svc',
      persona: system ? { system_prompt: system } : 'svc',
    },
    usesSoul: false,
    context: input.history ?? [],
    after: [],
    images: [],
    skills: [],
    conversation: 'none',
    temperature: typeof temperature === 'number' ? temperature : undefined,
    tools: manifest.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      ...(inputSchema ? { input_schema: inputSchema } : {}),
    })),
    sealed: true,
    maxIterations: ITERATIONS,
    functions: null,
    json: false,
    checkJson: null,
    metadata: null,
    cache: 'off',
    wantsFollowUps: false,
    present: ({ costMicro }, { content }) => ({ response: content, cost_cents: microToCents(costMicro) }),
    ...(alongside ? { alongside } : {}),
    shape: null,
    warnings: [],
  }
}
