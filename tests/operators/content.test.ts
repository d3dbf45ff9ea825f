import { describe, expect, test } from 'bun:test'
import { rolesFor } from '../../src/http/operator-edge'
import { heardFrom } from '../widgets/world'
import { createFullWorld, LINK, WORD } from './everything'
import { remoteSender } from './support'
import { operatorRulesOf } from './table'

type Send = ReturnType<typeof remoteSender>

const { world, ada, things, keyOf } = await createFullWorld()
const keys = { viewer: await keyOf('viewer'), support: await keyOf('support'), billing: await keyOf('billing') }
const [viewer, support, billing] = Object.values(keys).map((key) => remoteSender(world, key)) as [Send, Send, Send]
const { all } = operatorRulesOf(world)

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
    [/^\/files\/:id/, [things.sent]],
    [/^\/batches\/:id/, [things.batch]],
    [/^\/views\/:id/, [things.view.id]],
    [/^\/test-cases\/:id/, [things.testCase.id]],
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
  '/ops/v1/requests': `?owner=${ada.userId}`,
  '/ops/v1/usage': `?owner=${ada.userId}`,
  '/ops/v1/usage/series': `?owner=${ada.userId}`,
  '/ops/v1/usage/export': `?owner=${ada.userId}`,
}

/** A stream has no end; its first events are those of the snapshot. */
const reads = all().filter(({ method, path }) => method === 'GET' && path !== '/ops/v1/stream')
const requests = reads.flatMap((rule) => {
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
const NOT_REQUESTED = `
  /ops/v1/audit/signatures/:ref /ops/v1/browser/sessions/:id /ops/v1/browser/sessions/:id/recording
  /ops/v1/engines/:name/health /ops/v1/jobs/:id/verification /ops/v1/nodes/:ref
  /ops/v1/webhooks/:id/deliveries/:deliveryId
`
  .trim()
  .split(/\s+/)

describe('what people wrote, and links, are for the role support (docs/operating.md 2.2, D18)', () => {
  test('every route that reads says what it holds, and is asked here', () => {
    const unsaid = world.app.remoteOps!.routes.filter(
      ({ method, hooks }) => method === 'GET' && !('holds' in ((hooks as { detail?: object }).detail ?? {})),
    )
    expect(unsaid.map(({ path }) => path)).toEqual([])
    const skipped = reads.filter(({ path }) => !requests.some((one) => one.path === path))
    expect(skipped.map(({ path }) => path).sort()).toEqual(NOT_REQUESTED)
  })

  test.each(requests)('GET $path as viewer', async ({ path, url, holds, role, method }) => {
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
      if (role !== 'none') expect(seen.body.error.message).toContain('Ask an operator with the role support')
      else return
    }
    if (holds === 'facts') return
    if (typeof holds !== 'string')
      expect({ seen: seen.body.withheld, whole: whole.body.withheld }).toEqual({ seen: holds, whole: undefined })
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

  test('the stream of the dashboard holds the same for its reader', async () => {
    const first = async (key: string) => {
      const leaving = new AbortController()
      const request = new Request('http://localhost/ops/v1/stream?topics=takeovers&topics=audit&topics=jobs', {
        headers: { authorization: `Bearer ${key}` },
        signal: leaving.signal,
      })
      const { heard, until, done } = heardFrom(await world.app.remoteOps!.handle(request))
      await until(({ data }) => data.topic === 'jobs')
      leaving.abort()
      await done
      return heard.map(({ data }) => data)
    }
    const [seen, whole] = [await first(keys.viewer), await first(keys.support)]
    expect(whole.map(({ topic }) => topic)).toEqual([undefined, 'takeovers', 'audit', 'jobs'])
    expect(seen.map(({ topic }) => topic)).toEqual([undefined, 'takeovers', 'audit', 'jobs'])
    expect(JSON.stringify(whole)).toContain(WORD)
    expect(JSON.stringify(seen)).not.toContain(WORD)
    expect(seen.at(-1)!.rows).toContainEqual(
      expect.objectContaining({ id: things.job, status: 'completed', error: null }),
    )
  })

  test('a check of all data is started by support and admin', async () => {
    expect((await viewer('POST', 'verify')).status).toBe(403)
    expect((await support('POST', 'verify')).body.ok).toBe(true)
  })
})
