import { describe, expect, test } from 'bun:test'
import { rolesFor } from '../../src/http/operator-rules'
import { graph, INPUT, MODEL, node, OUTPUT } from '../canvases/drawing'
import { canvasOf } from '../canvases/world'
import { PIXEL, saveFor } from '../files/support'
import { CENT, jobsIn, kindOf } from '../public-jobs/support'
import { manifest, submit } from '../skills/support'
import { eventually } from '../support/eventually'
import { createWidgetWorld } from '../widgets/world'
import { operatorSender, remoteSender } from './support'
import { operatorRulesOf } from './table'

/** What a person wrote, wherever a person may write. */
const WORD = 'heliotrope'
/** Links that work for whoever has them. */
const LINK = /[?&#](?:sig|token|signature|exp)=|\/embed\/|\/files\//

const world = await createWidgetWorld({ config: { opsListen: '127.0.0.1:0' } })
const admin = operatorSender(world as never)
const as = async (role: string) => {
  const { body } = await admin('POST', 'operators', { name: role, role })
  return remoteSender(world as never, body.key)
}
const [viewer, support, billing] = [await as('viewer'), await as('support'), await as('billing')]
const { all } = operatorRulesOf(world as never)

const ada = await world.person({ tier: 'pro' })
const session = await world.signedIn(ada)
const must = async (reply: Promise<{ status: number; text: string; body: unknown }>) => {
  const { status, text, body } = await reply
  if (status >= 300) throw new Error(`${status} ${text}`)
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return body as any
}
const made = async (path: string, order: object) => must(ada.send('POST', path, order))

/** Something of everything, with the word in it. */
async function seeded() {
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
  const canvas = await canvasOf(ada, graph([INPUT, prompt, MODEL, OUTPUT], ['in>prompt', 'prompt>model', 'model>out']))
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
  const artifact = await saveFor(world as never, ada, PIXEL, { filename: `${WORD}.png` })
  const { id } = await world.widget({ behavior: { persona: WORD, welcomeMessage: WORD } }, ada)
  const chat = await world.begin(id, { page_url: `https://shop.example/${WORD}`, context: { note: WORD } })
  await world.say(chat, WORD)
  await world.asVisitor(chat)('POST', '/human', { reason: WORD })
  await must(world.desk(ada, chat)('POST', '/notes', { content: WORD }))
  const org = await must(admin('POST', 'orgs', { name: 'Team', owner: ada.userId, plan_note: WORD }))
  await must(admin('POST', 'credits', { owner: ada.userId, amount_cents: 5, note: WORD }))
  const { accept, define, get } = jobsIn(world as never)
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
    webhook,
    hook,
    increase,
    skill,
    artifact,
    chat,
    org,
    job,
  }
}
const things = await seeded()

/** What stands for a parameter of a path; null where nothing here has one. */
function pathOf(path: string): string | null {
  const { chat } = things
  const ids: [RegExp, string[]][] = [
    [/^\/keys\/:ref/, [ada.keyId]],
    [/^\/limits\/:ref/, [things.increase.id]],
    [/^\/orgs\/:ref/, [things.org.id]],
    [/^\/users\/:ref/, [ada.userId]],
    [/^\/requests\/:ref/, [things.completion.request_id]],
    [/^\/skills\/:ref/, [things.skill.slug]],
    [/^\/submissions\/:ref/, [things.skill.id]],
    [/^\/guardrail-policies\/:id/, [things.policy.id]],
    [/^\/routing-preferences\/:id/, [things.preference.id]],
    [/^\/evi\/canvases\/:id/, [things.canvas, things.drawn.id]],
    [/^\/workflows\/:id/, [things.workflow.id, things.run.id]],
    [/^\/jobs\/:id(?!\/verification)/, [things.job]],
    [/^\/conversations\/:id/, [things.completion.conversation_id]],
    [/^\/artifacts\/:id/, [things.artifact.id]],
    [/^\/webhooks\/:id/, [things.webhook.id]],
    [/^\/hooks\/:id/, [things.hook.id]],
    [/^\/iframes\/:id/, [chat.id, chat.sessionId]],
  ]
  if (!path.includes(':')) return path
  const [, found = []] = ids.find(([pattern]) => pattern.test(path.replace('/ops/v1', ''))) ?? []
  let at = 0
  const filled = path.replace(/:\w+/g, () => found[at++] ?? ':')
  return filled.includes(':') ? null : filled
}

const QUERIES: Record<string, string> = {
  '/ops/v1/snapshot': '?topics=overview,jobs,deliveries,takeovers,submissions,browser,keys,audit,logs'.replaceAll(
    ',',
    '&topics=',
  ),
  '/ops/v1/audit': `?owner=${ada.userId}`,
  '/ops/v1/audit/export': `?owner=${ada.userId}`,
  '/ops/v1/audit/head': `?owner=${ada.userId}`,
  '/ops/v1/audit/actions': `?owner=${ada.userId}`,
  '/ops/v1/credits': `?owner=${ada.userId}`,
  '/ops/v1/credits/ledger': `?owner=${ada.userId}`,
  '/ops/v1/usage': `?owner=${ada.userId}`,
  '/ops/v1/usage/export': `?owner=${ada.userId}`,
}

/** A stream has no end; its first events are those of the snapshot. */
const reads = all().filter(({ method, path }) => method === 'GET' && path !== '/ops/v1/stream')
const asked = reads.flatMap((rule) => {
  const path = pathOf(rule.path)
  return path === null ? [] : [{ ...rule, url: path + (QUERIES[rule.path] ?? '') }]
})

/** Nothing with the word is there to be read. */
const EMPTY = [
  '/ops/v1/submissions',
  '/ops/v1/submissions/:ref/checks',
  '/ops/v1/hooks/:id/executions',
  '/ops/v1/requests/:ref',
  '/ops/v1/jobs/:id/log',
  '/ops/v1/skills/:ref/reviews',
]
const NOT_ASKED = [
  '/ops/v1/audit/signatures/:ref',
  '/ops/v1/browser/sessions/:id',
  '/ops/v1/browser/sessions/:id/recording',
  '/ops/v1/jobs/:id/verification',
  '/ops/v1/webhooks/:id/deliveries/:deliveryId',
]

describe('what people wrote, and links, are for the role support (dx 2.2, D18)', () => {
  test('every route that reads says what it holds, and is asked here', () => {
    const unsaid = world.app.remoteOps!.routes.filter(
      ({ method, hooks }) => method === 'GET' && !('holds' in ((hooks as { detail?: object }).detail ?? {})),
    )
    expect(unsaid.map(({ path }) => path)).toEqual([])
    const skipped = reads.filter(({ path }) => !asked.some((one) => one.path === path))
    expect(skipped.map(({ path }) => path).sort()).toEqual(NOT_ASKED)
  })

  test.each(asked)('GET $path as viewer', async ({ path, url, holds, role, method }) => {
    const [seen, whole, part] = await Promise.all([viewer('GET', url), support('GET', url), billing('GET', url)])
    const roles = rolesFor({ method, path, holds, role })
    expect(seen.status).toBe(roles === 'all' ? 200 : 403)
    if (role !== 'none') expect(whole.status).toBe(200)
    for (const text of [seen.text, ...(role === 'billing' ? [] : [part.text])]) {
      expect(text).not.toContain(WORD)
      expect(text).not.toMatch(LINK)
    }
    if (seen.status === 403) {
      expect(seen.body.error).toMatchObject({ code: 'forbidden' })
      if (role !== 'none') expect(seen.body.error.message).toContain('ask an operator with the role support')
      else return
    }
    if (holds === 'facts') return
    if (typeof holds !== 'string') expect([seen.body.withheld, whole.body.withheld]).toEqual([holds, undefined])
    if (!EMPTY.includes(path) && !path.startsWith('/ops/v1/browser')) expect(whole.text).toMatch(WORD)
  })

  test('what is left are states, times, ids and money, in the form they had', async () => {
    const [seen, whole] = await Promise.all([viewer, support].map((send) => send('GET', `jobs/${things.job}`)))
    expect(whole!.body.result_data.link).toMatch(LINK)
    const { withheld: _, request_id: __, ...facts } = seen!.body
    expect(facts).toMatchObject({ id: things.job, status: 'completed', usage: { cost_cents: 1 }, result: '' })
    expect(Object.keys(facts)).toEqual(Object.keys(whole!.body).filter((name) => name !== 'request_id'))
    const { events } = (
      await viewer(
        'GET',
        `audit?owner=${ada.userId}&action=completion.created&request_id=${things.completion.request_id}`,
      )
    ).body
    expect(events[0]).toMatchObject({ entityId: things.completion.id, inputSummary: { mode: 'auto', metadata: {} } })
  })

  test('the stream of the dashboard is the same for its reader', async () => {
    const first = async (send: typeof viewer) => {
      const { text } = await send('GET', 'snapshot?topics=takeovers&topics=audit&topics=jobs')
      return text
    }
    expect(await first(support)).toContain(WORD)
    expect(await first(viewer)).not.toContain(WORD)
  })

  test('a check of all data is started by support and admin', async () => {
    expect((await viewer('POST', 'verify')).status).toBe(403)
    expect((await support('POST', 'verify')).body.ok).toBe(true)
  })
})
