import type { OperatorRole } from '../../src/kernel/caller'
import { graph, INPUT, MODEL, node, OUTPUT } from '../automation/canvases/drawing'
import { canvasOf } from '../automation/canvases/world'
import { CENT, jobsIn, kindOf } from '../charging/public-jobs/support'
import { batchOf, PIXEL, saveFor, sendFile } from '../files/support'
import { manifest, submit } from '../skills/support'
import { eventually } from '../support/eventually'
import type { World } from '../support/world'
import { createWidgetWorld } from '../widgets/world'
import { operatorSender } from './support'

/** What a person wrote, wherever a person may write. */
export const WORD = 'heliotrope'
/** Links that work for everyone who has them. */
export const LINK = /[?&#](?:sig|token|signature|exp)=|\/embed\/|\/files\//

/** The product with something of everything of one person, with the word in it, and an operator API on TCP. */
export async function createFullWorld() {
  const widgets = await createWidgetWorld({ config: { opsListen: '127.0.0.1:0' } })
  const world = widgets as unknown as World
  const admin = operatorSender(world)
  const ada = await world.person({ tier: 'pro' })
  return {
    world,
    ada,
    admin,
    things: await seeded(),
    keyOf: async (role: OperatorRole): Promise<string> =>
      (await admin('POST', 'operators', { name: role, role })).body.key,
  }

  async function seeded() {
    const session = await world.signedIn(ada)
    const made = (path: string, input: object) => must(ada.send('POST', path, input))
    const workers = world.app.container.jobs.start()
    const completion = await made('completions', {
      prompt: `Say ${WORD}`,
      metadata: { note: WORD, channel: 'telegram', channel_name: WORD },
    })
    await made('events', { orgId: ada.userId, eventType: 'order.created', payload: { note: WORD } })
    const { workflow } = await made('workflows', {
      name: 'Daily',
      triggerType: 'manual',
      steps: [{ name: 'Show', type: 'transform', config: { template: WORD } }],
    })
    const { run } = await made(`workflows/${workflow.id}/run`, { triggerData: { message: WORD } })
    const prompt = node('prompt', 'prompt', { content: WORD })
    const canvas = await canvasOf(
      ada,
      graph([INPUT, prompt, MODEL, OUTPUT], ['in>prompt', 'prompt>model', 'model>out']),
    )
    await must(ada.send('PATCH', `evi/canvases/${canvas}`, { description: WORD }))
    await made(`evi/canvases/${canvas}/workflow`, {})
    const ran = (await must(ada.send('GET', `evi/canvases/${canvas}/workflow`))).workflow.id
    const { run: drawn } = await made(`workflows/${ran}/run`, { triggerData: { message: WORD } })
    const policy = await made('guardrail-policies', { name: 'Safe', description: WORD })
    const preference = await made('routing-preferences', {
      name: 'Mine',
      rules: [{ pattern: WORD, target_mode: 'code' }],
    })
    await made('routing-corrections', { prompt: WORD, note: WORD, expected_mode: 'code' })
    const view = await made('views', { name: WORD, section: 'requests', query: WORD })
    const testCase = await made('test-cases', { name: WORD, request: { prompt: WORD }, checks: [] })
    const webhook = await made('webhooks', { url: 'listen:', event_types: ['*'], description: WORD })
    const hook = await made('hooks', { hook_preset_id: 'task.overdue.summary', name: 'Late', config: { note: WORD } })
    await must(ada.send('PUT', `keys/${ada.keyId}`, { brand_soul: { enabled: true, persona: WORD } }))
    const increase = await must(
      session.send('POST', 'rate-limits/request-increase', {
        requested_tier: 'enterprise',
        use_case: WORD,
        expected_volume: WORD,
      }),
    )
    const skill = await submit(ada, manifest({ description: WORD, systemPromptExtension: WORD, readme: WORD }))
    const artifact = await saveFor(world, ada, PIXEL, { filename: `${WORD}.png` })
    const sent = await sendFile(ada, WORD, 'user_data', `${WORD}.txt`)
    const batch = (await must(ada.send('POST', 'batches', await batchOf(ada)))).id
    const { id } = await widgets.widget({ behavior: { persona: { system_prompt: WORD }, welcomeMessage: WORD } }, ada)
    const chat = await widgets.begin(id, { page_url: `https://shop.example/${WORD}`, context: { note: WORD } })
    await widgets.say(chat, WORD)
    await widgets.asVisitor(chat)('POST', '/human', { reason: WORD })
    await must(widgets.transcript(ada, chat)('POST', '/notes', { content: WORD }))
    const org = await must(admin('POST', 'orgs', { name: 'Team', owner: ada.userId, plan_note: WORD }))
    await must(admin('POST', 'credits', { owner: ada.userId, amount_cents: 5, note: WORD }))
    const { accept, define, get } = jobsIn(world)
    const kind = define(kindOf(async () => ({ text: WORD, data: { title: WORD, link: artifact.url }, cost: CENT })))
    const job = await accept(ada, kind)
    await eventually(
      () => get(ada, job),
      ({ status }) => status === 'completed',
    )
    await workers.stop()
    return {
      completion,
      workflow,
      run,
      canvas,
      drawn,
      policy,
      preference,
      view,
      testCase,
      webhook,
      hook,
      increase,
      skill,
      artifact,
      sent,
      batch,
      chat,
      org,
      job,
    }
  }
}

async function must(reply: Promise<{ status: number; text: string; body: unknown }>) {
  const { status, text, body } = await reply
  if (status >= 300) throw new Error(`${status} ${text}`)
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return body as any
}
