import { afterAll } from 'bun:test'
import type { ConfigOverrides } from '../../../src/app/config'
import { createUpstreamWorld } from '../../completions/upstream-world'
import type { Person } from '../../support/world'

type Step = { type: string; name?: string; config: object; onSuccess?: number; onFailure?: number }

/** The product with workers that run, and a scripted upstream. Addresses on loopback may be called. */
export async function createWorkflowWorld(config: ConfigOverrides = {}) {
  const { world, upstream } = await createUpstreamWorld({ config: { egressAllow: '127.0.0.1/32', ...config } })
  const working = world.app.container.jobs.start()
  afterAll(() => working.stop())

  /** The id of a new workflow of these steps; unnamed ones are named by their place. */
  const made = async (person: Person, steps: readonly Step[], more: object = {}): Promise<string> => {
    const named = steps.map((step, at) => ({ name: `s${at}`, ...step }))
    const { status, body } = await person.send('POST', 'workflows', {
      name: 'Flow',
      triggerType: 'manual',
      steps: named,
      ...more,
    })
    if (status !== 201) throw new Error(JSON.stringify(body))
    return body.workflow.id
  }
  /** The run of these steps, once it ended or paused. */
  const ran = async (person: Person, steps: readonly Step[], triggerData: object = {}) => {
    const id = await made(person, steps)
    const { status, body } = await person.send('POST', `workflows/${id}/run`, { triggerData })
    if (status !== 200) throw new Error(JSON.stringify(body))
    return { id, run: body.run }
  }
  return { world, upstream, made, ran }
}
