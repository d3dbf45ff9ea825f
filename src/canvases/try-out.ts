import type { CompletionRequest } from '../completions'
import { findEngine } from '../engines'
import { microToCents } from '../kernel/money'
import { quotesOf, type SkillManifest } from '../skills'
import type { CanvasStep, TestOrder } from './schema'

export type Tried = { response: string | null; cost_cents: number }

/** Iterations in which a canvas under test may call tools. */
const ITERATIONS = 4

type Try = { manifest: SkillManifest; steps: readonly CanvasStep[]; order: TestOrder }

/**
 * The completion request that tests a canvas (contract 9.2): its prompts are the system prompt, its first model
 * answers, and its tools are acknowledged but never called. Nothing external is reached and no conversation is
 * stored.
 */
export function requestOfTry(
  { manifest, steps, order }: Try,
  alongside: CompletionRequest['alongside'],
): CompletionRequest<Tried> {
  const engine = manifest.modelPreference ? findEngine(manifest.modelPreference) : null
  const writes = engine?.kind === 'text' && engine.mode !== 'auto' ? engine : null
  const temperature = steps.find(({ type }) => type === 'ai_transform')?.config.temperature
  const system = systemOf(manifest, order.message)
  return {
    prompt: order.message,
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
    context: order.history ?? [],
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

/**
 * The system prompt: the canvas's prompts and the knowledge quotes for this message, chosen as for a published skill.
 */
const systemOf = (manifest: SkillManifest, message: string): string =>
  [manifest.systemPromptExtension, ...quotesOf(manifest, message)].filter(Boolean).join('\n\n')
