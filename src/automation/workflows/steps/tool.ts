import type { Clock } from '../../../kernel/clock'
import type { SkillService } from '../../../skills'
import type { Tools } from '../../../tools'
import { StepFailure, type StepRunner } from './step'

type Deps = {
  clock: Clock
  tools: Pick<Tools, 'assemble' | 'run' | 'ofSkill'>
  skills: Pick<SkillService, 'toolsOf'>
}

/**
 * Runs one tool: this server's own, one of an installed skill, or one that the step has with it (contract 10). Naming it in a step allows it, so none
 * asks for approval.
 */
export const createToolStep =
  ({ clock, tools, skills }: Deps): StepRunner<'tool'> =>
  async ({ config, call, key, run }) => {
    const { name, arguments: args = {}, tool } = config
    const toolset = tools.assemble({
      inline: [],
      skills: tool ? tools.ofSkill(run.workflow_id, [{ ...tool, name }]) : await skills.toolsOf(call),
      system: true,
      approved: [name],
      call,
    })
    const request = { id: key, name, arguments: JSON.stringify(args) }
    const context = { call, signal: call.signal, now: clock.now(), conversationId: null }
    const outcome = await tools.run(toolset, request, context)
    if (outcome.status === 'error') throw new StepFailure(outcome.text.replace(/^Error: /, ''))
    return { output: outcome.result }
  }
