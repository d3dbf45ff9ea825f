import type { clientOf, Json } from './client'

type Client = ReturnType<typeof clientOf>
const PAGE = 'https://shop.example'
const PATIENCE_MS = 30_000

/**
 * Fills a new server in dev mode by its own doors, with some of everything that it keeps.
 * @returns the secrets of the keys that may read it, by name
 */
export async function fill({ call, ops }: Client, dev: string, receiver: string): Promise<Record<string, string>> {
  /** Makes something, and throws with the answer where it is refused. */
  const ask = async (method: string, path: string, body?: unknown, key: string | null = dev, headers = {}) => {
    const answer = await call(method, path, key, body, headers)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const make = (path: string, body: object = {}, key: string | null = dev, headers = {}): Promise<Json> =>
    ask('POST', path, body, key, headers)
  const read = (path: string): Promise<Json> => ask('GET', path)
  const me = await read('/auth/me')
  const userId: string = me.user?.id ?? me.id

  const ada = await make('/auth/signup', { email: 'ada@example.com', password: 'correct horse battery' }, null)
  const org = await make('/orgs', { name: 'Acme' }, dev)
  await make(`/orgs/${org.id}/invitations`, { email: 'bob@example.com', role: 'member' })
  await ops('POST', '/credits', { owner: 'ada@example.com', amount_cents: 50_000 })
  await ops('POST', '/credits', { owner: org.id, amount_cents: 70_000, expires_at: '2999-01-01T00:00:00.000Z' })
  const second = await ops('POST', '/keys', {
    user: 'ada@example.com',
    name: 'second',
    tier: 'pro',
    daily_cap_cents: 900,
  })
  const gone = await make('/keys', { name: 'gone' })
  await ops('POST', '/operators', { name: 'night', role: 'viewer' })

  await ask('PATCH', '/settings', { timezone: 'Europe/Vienna' })
  await ask('PATCH', '/billing/limits', { monthly_cap_cents: 100_000 })
  await make(
    '/rate-limits/request-increase',
    { requested_tier: 'enterprise', use_case: 'More', expected_volume: 'Much' },
    second.key,
  )
  await ops('POST', '/credits/codes', { amount_cents: 500 })

  // Webhooks come first, so that what follows is delivered.
  for (const path of ['/taken', '/refused'])
    await make('/webhooks', { url: receiver + path, event_types: ['*'], description: path })
  const policy = await make('/guardrail-policies', {
    name: 'No personal data',
    rules: [{ guardrail_id: 'pii', phase: 'input', verdict: 'redact' }],
  })
  await make('/routing-preferences', { name: 'Short', keyword_rules: [] })
  await ask('PUT', `/keys/${gone.id}/guardrails`, { guardrail_policy_id: policy.id })
  await ask('DELETE', `/keys/${gone.id}`)
  await make('/memory', { content: 'My favourite colour is green.' })
  await make('/skills', { slug: 'email-drafter' })
  await make('/skills/submit', {
    manifest: {
      name: 'Haiku writer',
      slug: 'haiku-writer',
      version: '1.0.0',
      description: 'Writes haiku on request.',
      category: 'creative',
      author: { name: 'Ada' },
      systemPromptExtension: 'When asked for a poem, write a haiku of three lines.',
    },
  })
  const { skills } = await read('/skills?slug=email-drafter')
  await make(`/skills/${skills[0].id}/reviews`, { rating: 5, comment: 'Good' })
  await make('/hooks', { hook_preset_id: 'task.overdue.summary' })
  const { workflow } = await make('/workflows', {
    name: 'Greeting',
    triggerType: 'manual',
    steps: [{ name: 'say', type: 'transform', config: { template: 'Hello {{trigger.name}}' } }],
  })
  await make(`/workflows/${workflow.id}/run`, { triggerData: { name: 'Ada' } })
  await make('/evi/canvases', { name: 'Drawing' })
  await make('/events', { orgId: userId, eventType: 'task.overdue', payload: { title: 'Taxes' } })

  let conversation: string | null = null
  for (const prompt of ['What is 12 times 12?', 'Upper case: hello world', 'Reverse the text: abc']) {
    const answer: Json = await make('/completions', { prompt, mode: 'fast', conversation_id: conversation })
    conversation = answer.conversation_id
  }
  for (const key of [second.key, dev])
    await make(
      '/chat/completions',
      { model: 'svc-1-flash', messages: [{ role: 'user', content: 'What is 7 plus 5?' }] },
      key,
    )
  await make('/images', { prompt: 'a red circle' })
  await make('/documents', { prompt: 'a document about tides', format: 'docx' })
  await make('/video', { prompt: 'a red circle', duration: '1s' })
  await make('/routing-corrections', { expected_mode: 'think', prompt: 'Why is the sky blue?' })

  const payer = await make('/keys', { name: 'chat' })
  const widget = await make('/iframes', { api_key_id: payer.id, name: 'Shop', security: { allowedOrigins: [PAGE] } })
  const from = { origin: PAGE }
  const chat = await make(`/iframes/${widget.id}/sessions`, { page_url: `${PAGE}/hats` }, null, from)
  const visitor = { ...from, authorization: `Bearer ${chat.token}` }
  await make(
    `/iframes/${widget.id}/sessions/${chat.session_id}/messages`,
    { content: 'What is 2 plus 2?' },
    null,
    visitor,
  )
  await make(`/iframes/${widget.id}/sessions/${chat.session_id}/request-human`, {}, null, visitor)
  await make(`/iframes/${widget.id}/conversations/${chat.session_id}/takeover`)
  await make(`/iframes/${widget.id}/conversations/${chat.session_id}/notes`, { content: 'Knows the shop' })
  await make(`/iframes/${widget.id}/conversations/${chat.session_id}/messages`, { content: 'Hello from a person' })
  await make(`/iframes/${widget.id}/conversations/${chat.session_id}/release`)

  await settled(read)
  return { dev, second: second.key, ada: ada.session_token }
}

/** Waits until nothing works any more: what still moves would differ each time that it is looked at. */
async function settled(read: (path: string) => Promise<Json>): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  const busy = async () => {
    const { jobs } = await read('/jobs')
    return jobs.filter(({ status }: Json) => !['completed', 'failed', 'cancelled'].includes(status)).length
  }
  while ((await busy()) && performance.now() < until) await Bun.sleep(200)
}
