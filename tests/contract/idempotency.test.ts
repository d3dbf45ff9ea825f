// Both databases: every route is asked, and each has statements.
import { describe, expect, test } from 'bun:test'
import { simple } from '../automation/canvases/drawing'
import { jobsIn, kindOf, report } from '../charging/public-jobs/support'
import { batchOf } from '../files/support'
import { manifest } from '../skills/support'
import { eventually } from '../support/eventually'
import { createWorld, type Person } from '../support/world'
import { widgetsIn } from '../widgets/world'
import { routesOf } from './matrix'

const world = await createWorld({ config: { signup: 'open' } })
const routes = await routesOf(world)
const { accept, define } = jobsIn(world)
const research = define(kindOf(report))
const { body: document } = await world.send('GET', '/openapi.json')

/** POSTs that take no Idempotency-Key, and why (docs/api.md 1.7). A new one is added here by hand, on purpose. */
const WITHOUT: Record<string, string> = {
  'POST /audio/tts': 'answers with sound',
  'POST /audio/speech': 'answers with sound',
  'POST /audio/stt': 'is multipart',
  'POST /audio/transcriptions': 'is multipart',
  'POST /audio/translations': 'is multipart',
  'POST /images/edits': 'is multipart',
  'POST /files': 'is multipart',
  'POST /skills/sandbox': 'keeps nothing, so there is nothing to do twice',
  'POST /guardrail-policies/{id}/evaluate': 'changes nothing',
  'POST /guardrail-policies/preview': 'changes nothing',
  'POST /moderations': 'scores the same text the same way',
  'POST /messages/count_tokens': 'changes nothing',
  'POST /routing-preferences/preview': 'changes nothing',
  'POST /routing-preferences/replay': 'changes nothing',
  'POST /routing-preferences/suggest-rule': 'changes nothing',
  'POST /auth/signup': 'no credential, so there is no user a key could belong to',
  'POST /auth/sessions': 'no credential, so there is no user a key could belong to',
  'POST /auth/password': 'sets the same password again, and a stored request would keep its hash',
  'POST /auth/confirm': 'proves the same thing again, and a stored request would keep its password',
  'POST /auth/links': 'no credential, so there is no user a key could belong to',
  'POST /auth/links/redeem': 'no credential, so there is no user a key could belong to',
  'POST /billing/webhook': 'the processor retries by its own event id',
  'POST /responses/input_tokens': 'changes nothing',
  'POST /batches/{id}/cancel': 'cancels once, however often it is asked',
  'POST /responses/{id}/cancel': 'cancels once, however often it is asked',
  'POST /iframes/{id}/preview-token': 'changes nothing',
  'POST /iframes/{id}/verify': 'changes nothing',
  'POST /iframes/{id}/conversations/{sessionId}/typing': 'keeps nothing, so there is nothing to do twice',
  'POST /iframes/{id}/sessions': 'is for visitors',
  'POST /iframes/{id}/sessions/{sessionId}/messages': 'is for visitors',
  'POST /iframes/{id}/sessions/{sessionId}/request-human': 'is for visitors',
  'POST /iframes/{id}/sessions/{sessionId}/typing': 'is for visitors',
  'POST /iframes/{id}/sessions/{sessionId}/identify': 'is for visitors',
  'POST /iframes/{id}/sessions/{sessionId}/feedback': 'is for visitors',
}

/** A request of each POST that takes one. Those whose making takes more are retried in the tests of their modules. */
const REQUESTS: Record<string, (by: Person) => Promise<[path: string, body?: unknown]>> = {
  'POST /completions': async () => ['completions', { prompt: 'Once, please' }],
  'POST /chat/completions': async () => ['chat/completions', { messages: [{ role: 'user', content: 'Once' }] }],
  'POST /messages': async () => ['messages', { max_tokens: 100, messages: [{ role: 'user', content: 'Once' }] }],
  'POST /embeddings': async () => ['embeddings', { input: 'Once' }],
  'POST /responses': async () => ['responses', { input: 'Once' }],
  'POST /conversations': async () => ['conversations', { metadata: { once: 'yes' } }],
  'POST /conversations/{id}': async (by) => [
    `conversations/${await conversationOf(by)}`,
    { metadata: { once: 'yes' } },
  ],
  'POST /conversations/{id}/items': async (by) => [
    `conversations/${await conversationOf(by)}/items`,
    { items: [{ role: 'user', content: 'Once' }] },
  ],
  'POST /batches': async (by) => ['batches', await batchOf(by)],
  'POST /research': async () => ['research', { prompt: 'Once, please' }],
  'POST /video': async () => ['video', { prompt: 'Once, please', duration: '1s' }],
  'POST /voice/action': async () => ['voice/action', { tool: 'code_execute', arguments: { code: '6 * 7' } }],
  'POST /code': async () => ['code', { prompt: 'Once' }],
  'POST /documents': async () => ['documents', { prompt: 'Once', format: 'csv' }],
  'POST /images': async () => ['images', { prompt: 'Once' }],
  'POST /images/generations': async () => ['images/generations', { prompt: 'Once' }],
  'POST /keys': async () => ['keys', { name: 'once' }],
  'POST /keys/{id}/rotate': async (by) => [`keys/${(await by.send('POST', 'keys', {})).body.id}/rotate`, {}],
  'POST /memory': async () => ['memory', { content: 'Once' }],
  'POST /skills': async () => ['skills', { slug: 'email-drafter' }],
  'POST /skills/create': async () => [
    'skills/create',
    { name: 'Once', slug: 'once-created', category: 'domain', system_prompt_ext: 'Help.' },
  ],
  'POST /skills/submit': async () => ['skills/submit', { manifest: manifest() }],
  'POST /skills/{id}/reviews': async () => ['skills/todo-manager/reviews', { rating: 5 }],
  'POST /evi/canvases': async () => ['evi/canvases', { name: 'Once' }],
  'POST /evi/canvases/{id}/workflow': async (by) => [`evi/canvases/${await canvasOf(by)}/workflow`],
  'POST /evi/canvases/{id}/compile': async (by) => [`evi/canvases/${await canvasOf(by)}/compile`],
  'POST /evi/canvases/{id}/test': async (by) => [`evi/canvases/${await canvasOf(by)}/test`, { message: 'Once' }],
  'POST /evi/canvases/{id}/publish': async (by) => [
    `evi/canvases/${await canvasOf(by)}/publish`,
    { slug: 'once-only', version: '1.0.0', author: { name: 'Ada' } },
  ],
  'POST /guardrail-policies': async () => ['guardrail-policies', { name: 'Once' }],
  'POST /routing-preferences': async () => ['routing-preferences', { name: 'Once' }],
  'POST /routing-corrections': async () => ['routing-corrections', { prompt: 'Once', expected_mode: 'think' }],
  'POST /events': async (by) => ['events', { orgId: by.userId, eventType: 'order.created' }],
  'POST /hooks': async () => ['hooks', { hook_preset_id: 'task.overdue.summary' }],
  'POST /views': async () => ['views', { name: 'one', section: 'requests', query: '' }],
  'POST /test-cases': async () => ['test-cases', TEST_CASE],
  'POST /test-cases/run': async (by) => {
    await by.send('POST', 'test-cases', TEST_CASE)
    return ['test-cases/run', { models: ['svc-1-flash'], most_cents: 1 }]
  },
  'POST /webhooks': async () => ['webhooks', WEBHOOK],
  'POST /webhooks/{id}/test': async (by) => [`webhooks/${await webhookOf(by)}/test`],
  'POST /webhooks/{id}/retry-failed': async (by) => [
    `webhooks/${await webhookOf(by)}/retry-failed`,
    { from: '2026-01-01' },
  ],
  'POST /webhooks/{id}/rotate-secret': async (by) => [`webhooks/${await webhookOf(by)}/rotate-secret`],
  'POST /iframes': async (by) => ['iframes', { api_key_id: by.keyId }],
  'POST /iframes/{id}/duplicate': async (by) => [`iframes/${(await widgetsIn(world).widget({}, by)).id}/duplicate`, {}],
  'POST /iframes/{id}/conversations/{sessionId}/takeover': async (by) => [`${await chatOf(by)}/takeover`],
  'POST /iframes/{id}/conversations/{sessionId}/messages': async (by) => {
    const chat = await chatOf(by)
    await by.send('POST', `${chat}/takeover`)
    return [`${chat}/messages`, { content: 'Once' }]
  },
  'POST /iframes/{id}/identity-secret': async (by) => [
    `iframes/${(await widgetsIn(world).widget({}, by)).id}/identity-secret`,
  ],
  'POST /iframes/{id}/conversations/{sessionId}/notes': async (by) => [
    `${await chatOf(by)}/notes`,
    { content: 'Once' },
  ],
  'POST /iframes/{id}/conversations/{sessionId}/handover': async (by) => {
    const chat = await chatOf(by)
    await by.send('POST', `${chat}/takeover`)
    return [`${chat}/handover`, { to: by.userId }]
  },
  'POST /iframes/{id}/conversations/{sessionId}/release': async (by) => [`${await chatOf(by)}/release`],
  'POST /iframes/{id}/conversations/{sessionId}/close': async (by) => [`${await chatOf(by)}/close`],
  'POST /workflows': async () => ['workflows', WORKFLOW],
  'POST /workflows/{id}/run': async (by) => [`workflows/${await workflowOf(by)}/run`, {}],
  'POST /jobs/{id}/cancel': async (by) => [`jobs/${await accept(by, research)}/cancel`],
  'POST /orgs': async () => ['orgs', { name: 'Once' }],
  'POST /orgs/{id}/activate': async (by) => [`orgs/${await orgOf(by)}/activate`],
  'POST /orgs/{id}/invitations': async (by) => [
    `orgs/${await orgOf(by)}/invitations`,
    { email: 'once@example.com', role: 'member' },
  ],
  'POST /rate-limits/request-increase': async () => [
    'rate-limits/request-increase',
    { requested_tier: 'pro', use_case: 'more', expected_volume: 'more' },
  ],
  'POST /billing/checkout': async () => ['billing/checkout', { amount_cents: 1_000 }],
  'POST /billing/portal': async () => ['billing/portal', {}],
}
const IN_THEIR_MODULES = [
  'POST /iframes/{id}/conversations/{sessionId}/draft',
  'POST /workflows/{id}/runs/{runId}/approve',
  'POST /workflows/{id}/runs/{runId}/reject',
  'POST /workflows/{id}/runs/{runId}/cancel',
  'POST /voice/token',
  'POST /browser/sessions',
  'POST /browser/sessions/{id}/actions',
  'POST /skills/submissions/{id}/review',
  'POST /evi/canvases/{id}/versions/{versionId}/restore',
  'POST /orgs/{id}/invitations/{invitationId}/resend',
  'POST /invitations/{token}/accept',
  'POST /rate-limits/requests/{id}/decision',
  'POST /webhooks/{id}/deliveries/{deliveryId}/retry',
  'POST /requests/{id}/replay',
]

const WEBHOOK = { url: 'https://203.0.112.7/hook', event_types: ['order.*'] }
const TEST_CASE = { name: 'one', request: { prompt: 'hello' }, checks: [] }
const webhookOf = async (by: Person): Promise<string> => (await by.send('POST', 'webhooks', WEBHOOK)).body.id
const WORKFLOW = {
  name: 'Once',
  triggerType: 'manual',
  steps: [{ type: 'approval', name: 'a', config: { message: 'May it?' } }],
}
const workflowOf = async (by: Person): Promise<string> =>
  (await by.send('POST', 'workflows', WORKFLOW)).body.workflow.id
const chatOf = async (by: Person): Promise<string> => {
  const { id } = await widgetsIn(world).widget({}, by)
  return `iframes/${id}/conversations/${(await widgetsIn(world).begin(id)).sessionId}`
}
const canvasOf = async (by: Person): Promise<string> =>
  (await by.send('POST', 'evi/canvases', { name: 'Once', graph_json: simple() })).body.canvas.id
const conversationOf = async (by: Person): Promise<string> => (await by.send('POST', 'conversations', {})).body.id
const orgOf = async (by: Person): Promise<string> => (await by.send('POST', 'orgs', { name: 'Once' })).body.id

type Operation = { 'x-idempotent'?: boolean; parameters?: { name: string; in: string }[]; responses: object }
const operationOf = ({ method, path }: { method: string; path: string }): Operation =>
  document.paths[path][method.toLowerCase()]
const takesKey = (route: (typeof routes)[number]) =>
  operationOf(route).parameters?.some(
    (parameter) => parameter.in === 'header' && parameter.name === 'Idempotency-Key',
  ) ?? false

describe('the document', () => {
  test('declares the header on every POST but the named ones, and on nothing else', () => {
    const posts = routes.filter(({ method }) => method === 'POST').map(({ name }) => name)
    expect(
      routes
        .filter(takesKey)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(posts.filter((name) => !(name in WITHOUT)).sort())
    expect(routes.filter(takesKey).every((route) => '409' in operationOf(route).responses)).toBe(true)
  })

  test('has a request below for each of them', () => {
    const known = [...Object.keys(REQUESTS), ...IN_THEIR_MODULES].sort()
    expect(
      routes
        .filter(takesKey)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(known)
  })
})

test.each(Object.entries(REQUESTS))(
  'every route that takes a key: %s keeps its answer with its effect, and replays it',
  async (name, requestOf) => {
    const ada = await world.person({ tier: 'free' })
    const [path, body] = await requestOf(ada)
    const headers = { 'idempotency-key': `once-${name.length}` }
    const first = await ada.send('POST', path, body, headers)
    expect(first.status).toBeLessThan(300)
    const again = await ada.send('POST', path, body, headers)
    expect({ status: again.status, text: again.text }).toEqual({ status: first.status, text: first.text })
    expect(again.headers.get('x-idempotent-replay')).toBe('true')
    const { request_id } = first.body
    const noted = () => world.logged.find((line) => line.includes(request_id) && line.includes('"idempotency"'))
    expect(await eventually(noted)).toContain('"idempotency":"kept with its effect"')
  },
)
