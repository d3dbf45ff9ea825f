import type { SettingsService } from '../../../accounts'
import {
  assertOrder,
  type CompletionRequest,
  type CompletionService,
  formOfSchema,
  requestFromOrder,
} from '../../../completions'
import type { CompletionInput } from '../../../completions/schema'
import type { Call } from '../../../kernel/caller'
import { AppError } from '../../../kernel/errors'
import { microToCents } from '../../../kernel/money'
import type { Store } from '../../../kernel/store'
import type { SkillService } from '../../../skills'
import { type Doing, STORED, StepFailure, type StepRunner } from './step'

type Deps = {
  store: Store
  settings: Pick<SettingsService, 'read'>
  completions: Pick<CompletionService, 'pipeline'>
  skills: Pick<SkillService, 'aloneBySlug'>
}

/** The steps that ask an engine: billed as completions, and stored in the transaction that charges them (I38). */
export function createAiSteps({ store, settings, completions, skills }: Deps) {
  const aiTransform: StepRunner<'ai_transform'> = async (doing) => {
    const { prompt, output_schema: schema, model, attachments, ...rest } = doing.config
    const input = {
      ...rest,
      prompt,
      mode: rest.mode ?? 'auto',
      ...(attachments ? { attachments } : {}),
    } as CompletionInput
    const form = schema ? formOfSchema(schema, `steps[${doing.at}].config.output_schema`) : null
    const request = await requestOf(doing.call, input)
    return notify(doing, { ...request, ...(model ? { engine: model } : {}), ...form }, form !== null)
  }

  const skill: StepRunner<'skill'> = async (doing) => {
    const { slug, input } = doing.config
    const active = await skills.aloneBySlug(doing.call, slug, input)
    if (!active) throw new StepFailure(`There is no skill "${slug}" that this workflow can use.`)
    const request = await requestOf(doing.call, { prompt: input, mode: 'auto' })
    return notify(doing, { ...request, active }, false)
  }

  return { ai_transform: aiTransform, skill }

  async function requestOf({ caller }: Call, input: CompletionInput): Promise<CompletionRequest> {
    assertOrder(input)
    const own = await settings.read(store.read, caller.userId)
    return { ...requestFromOrder({ ...input, conversation_id: null }, own, false), cache: 'off', wantsFollowUps: false }
  }

  async function notify(
    { call, run, keep }: Doing<'ai_transform' | 'skill'>,
    request: CompletionRequest,
    isJson: boolean,
  ): Promise<typeof STORED> {
    let ended: unknown
    const requested = completions.pipeline.complete(call, {
      ...request,
      metadata: { workflow_id: run.workflow_id, workflow_run_id: run.id },
      alongside: (tx, { costMicro }, { content, artifacts, refusal, promptTokens, completionTokens }, broken) => {
        // This worker stops: nothing is charged, and another one begins the step again.
        if (broken !== undefined && call.signal.aborted) throw broken
        ended = broken
        const usage = {
          cost_cents: microToCents(costMicro),
          prompt_tokens: promptTokens,
          completion_tokens: completionTokens,
          total_tokens: promptTokens + completionTokens,
        }
        const structured = isJson ? { structured: parsed(content) } : {}
        const error =
          broken === undefined ? refusal : broken instanceof AppError ? broken.message : 'the answer was interrupted'
        return keep(tx, { output: { text: content, ...structured, artifacts, usage }, cost: costMicro, error })
      },
    })
    await requested.catch((error: unknown) => {
      // The failed step is stored with what it cost.
      if (ended === undefined || error !== ended) throw error
    })
    return STORED
  }
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return null
  }
}
