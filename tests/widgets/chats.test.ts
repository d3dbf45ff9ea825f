import { expect, test } from 'bun:test'
import { expectData, subscribeTo } from '../support/event-data'
import { readFrames } from '../support/frames'
import { createWidgetWorld, SHOP } from './world'

const world = await createWidgetWorld()
const { widget, begin, say, asVisitor, transcript, listenTo, page } = world

test('a visitor begins a chat, is answered, and the owner pays', async () => {
  const { owner, id } = await widget({ behavior: { welcomeMessage: 'Hello!' } })
  const shown = await page('GET', `${id}/public`)
  expect(shown.body).toMatchObject({ id, status: 'active', security: { requireTurnstile: false } })
  expect(shown.headers.get('access-control-allow-origin')).toBe(SHOP)
  const made = await page('POST', `${id}/sessions`, { page_url: `${SHOP}/hats?x=1` })
  expect(made.body).toMatchObject({ takeover_status: 'ai', welcome_message: 'Hello!' })
  const chat = { id, token: made.body.token, sessionId: made.body.session_id }
  const { status, body } = await say(chat, 'What is 2 + 3?')
  expect(status).toBe(200)
  expect(body).toMatchObject({ message: { role: 'user' }, reply: { role: 'assistant' }, takeover_status: 'ai' })
  expect(body.reply.content).toContain('5')
  const seen = await asVisitor(chat)('GET', '')
  expect(seen.body.messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant'])
  expect((await asVisitor(chat)('GET', `?after=${seen.body.messages[0].id}`)).body.messages).toHaveLength(1)
  const { body: found } = await transcript(owner, chat)('GET')
  expect(found).toMatchObject({ status: 'open', takeover_status: 'ai', message_count: 2, visitor: { origin: SHOP } })
  expect((await owner.send('GET', `conversations/${found.conversation_id}`)).body.conversation.messages).toHaveLength(2)
})

test('an answer comes as a stream, with the stored reply before its end', async () => {
  const { text, headers } = await say(await begin((await widget()).id), 'What is 2 + 3?', { stream: true })
  expect(headers.get('content-type')).toContain('text/event-stream')
  const frames = readFrames(text)
  const names = frames.map(({ event }) => event)
  expect(names[0]).toBe('meta')
  expect(names.slice(-2)).toEqual(['reply', 'done'])
  expect(frames.at(-2)!.data.reply.content).toBe(frames.at(-1)!.data.content)
})

test('a person takes over, writes, and gives it back; the visitor hears it as it happens', async () => {
  const { owner, id } = await widget()
  await subscribeTo(owner, 'widget.*')
  const chat = await begin(id)
  const notice = await listenTo(chat)
  await notice.until(({ event, data }) => event === 'takeover' && data.takeover_status === 'ai')
  const request = await asVisitor(chat)('POST', '/request-human', { reason: 'A refund' })
  expect(request.body).toMatchObject({ takeover_status: 'requested' })
  const waiting = await owner.send('GET', `iframes/${id}/conversations?takeover_status=requested`)
  expect(waiting.body.conversations).toMatchObject([{ session_id: chat.sessionId, reason: 'A refund' }])
  const at = transcript(owner, chat)
  expect((await at('POST', '/messages', { content: 'Too soon' })).status).toBe(409)
  const taken = await at('POST', '/takeover', { operator_name: 'Ann', message: 'Ann here.' })
  expect(taken.body).toMatchObject({ takeover_status: 'human', operator: { name: 'Ann' } })
  expect((await say(chat, 'Thank you', { stream: true })).body).toMatchObject({ reply: null, takeover_status: 'human' })
  expect((await at('POST', '/typing')).status).toBe(200)
  expect((await at('POST', '/messages', { content: 'It is on its way.' })).status).toBe(201)
  await notice.until(({ data }) => data.content === 'It is on its way.')
  await notice.until(({ event }) => event === 'typing')
  expect((await at('POST', '/release')).body).toMatchObject({ takeover_status: 'ai' })
  expect((await at('POST', '/release', { nonsense: [1] })).body).toMatchObject({ takeover_status: 'ai' })
  expect((await say(chat, 'What is 2 + 3?')).body.reply.role).toBe('assistant')
  expect((await at('POST', '/close')).body).toMatchObject({ status: 'closed' })
  await notice.until(({ event }) => event === 'closed')
  await notice.done
  expect(notice.heard.filter(({ event }) => event === 'message').map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])
  expect((await say(chat, 'Hello?')).status).toBe(409)
  const { body: events } = await owner.send('GET', `audit?entity_id=${chat.sessionId}`)
  expect(events.map(({ action }: { action: string }) => action).reverse()).toEqual([
    'widget.takeover_started',
    'widget.message_sent',
    'widget.takeover_released',
    'widget.closed',
  ])
  await expectData(owner, ['widget.human_requested', 'widget.takeover_started', 'widget.takeover_released'])
})

test('a returning client receives missed events once', async () => {
  const { owner, id } = await widget()
  const chat = await begin(id)
  await transcript(owner, chat)('POST', '/takeover', { message: 'one' })
  await transcript(owner, chat)('POST', '/messages', { content: 'two' })
  const notice = await listenTo(chat, 1)
  await notice.until(({ event }) => event === 'message')
  await transcript(owner, chat)('POST', '/messages', { content: 'three' })
  await notice.until(({ data }) => data.content === 'three')
  notice.leave()
  expect(notice.heard.filter(({ event }) => event === 'message').map(({ id }) => id)).toEqual([2, 3])
})

test('a visitor who asks for a person in words is not answered by the AI', async () => {
  const { id } = await widget({ intents: { keywords: ['refund'] } })
  for (const words of ['Can I talk to a human, please?', 'I want a REFUND!']) {
    const { body } = await say(await begin(id), words)
    expect(body).toMatchObject({ takeover_status: 'requested', reply: { role: 'system' } })
  }
  expect((await say(await begin(id), 'Are these refundable?')).body.takeover_status).toBe('ai')
})

test('a visitor who asks for a video or a research is answered with text, and no job of the owner begins', async () => {
  const { owner, id } = await widget()
  const chat = await begin(id)
  const requests = ['Make a 5 second video of a cat.', 'Research the history of the bicycle and cite your sources.']
  for (const words of requests) {
    const { status, body } = await say(chat, words)
    expect(status).toBe(200)
    expect(body.reply.role).toBe('assistant')
    expect(body.reply.artifacts).toEqual([])
    expect(body.reply.content).not.toMatch(/job_|\/api\/v1/)
  }
  expect((await say(chat, 'Make a 7 second video of a dog.', { stream: true })).text).not.toMatch(/job_|\/api\/v1/)
  expect((await owner.send('GET', 'jobs')).body.jobs).toEqual([])
  for (const mode of ['video', 'research', 'stealth_video'])
    expect(await owner.send('PATCH', `iframes/${id}`, { behavior: { mode } })).toMatchObject({
      status: 400,
      body: { error: { param: 'behavior.mode' } },
    })
})

test('a widget is refused skills that its key may not run, and an intent with an address that is not called, or with none', async () => {
  const { owner, id } = await widget()
  const change = async (patch: object) => {
    const { status, body } = await owner.send('PATCH', `iframes/${id}`, patch)
    return [status, body.error?.code, body.error?.param]
  }
  expect(await change({ behavior: { skills: ['nope'] } })).toEqual([404, 'not_found', 'behavior.skills'])
  for (const url of ['http://127.0.0.1/', 'https://localhost/', 'https://10.0.0.1/x'])
    expect(await change({ intents: { action: 'webhook', url } })).toEqual([400, 'url_blocked', 'intents.url'])
  for (const action of ['webhook', 'redirect'])
    expect(await change({ intents: { action } })).toEqual([400, 'validation_error', 'intents.url'])
})

test('a visitor whom no model can answer gets one line, which says nothing of settings', async () => {
  const { status, body, text } = await say(await begin((await widget()).id), 'Do you ship to France?')
  expect(status).toBe(200)
  expect(body.reply.content).toBe('Sorry, I have no answer to that. Please try it in other words.')
  expect(text).not.toMatch(/SVC_|svc-admin/)
})
