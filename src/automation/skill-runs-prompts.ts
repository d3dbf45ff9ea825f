import { behalfOf } from '../accounts'
import type { EventBus } from '../events'
import { ownerOf } from '../kernel/caller'
import { skillHookDue } from '../skills'
import type { SkillRuns } from './skill-runs'

type Deps = { events: EventBus; runs: Pick<SkillRuns, 'begin'> }

/** Runs the `hooks` prompt of a skill once when it is installed or removed, billed to the owner who did that. */
export function registerPrompts({ events, runs }: Deps): void {
  events.inTransaction(skillHookDue, async (tx, { data: { call, skill, cause, prompt } }) => {
    const { caller, route } = call
    const { id, slug } = skill
    await runs.begin(tx, {
      owner: ownerOf(caller),
      behalf: behalfOf(caller),
      skill: { id, slug },
      cause,
      prompt,
      route,
      depth: call.depth ?? 0,
    })
  })
}
