import { expect, test } from 'bun:test'
import { createWidgetWorld } from './world'

const world = await createWidgetWorld()
const { widget, begin, transcript } = world

test('what is said in many chats at once commits together; what is refused takes nothing with it', async () => {
  const { owner, id } = await widget()
  const [held, foreign, alone] = [await begin(id), await begin(id), await begin(id)]
  for (const chat of [held, alone]) expect((await transcript(owner, chat)('POST', '/takeover', {})).status).toBe(200)
  const say = (chat: typeof held, content: string, key: string = crypto.randomUUID()) =>
    owner.send(
      'POST',
      `iframes/${id}/conversations/${chat.sessionId}/messages`,
      { content },
      { 'idempotency-key': key },
    )
  const words = Array.from({ length: 8 }, (_, at) => `word ${at}`)
  const replies = await Promise.all([
    ...words.map((word, at) => say(at % 2 ? held : alone, word, `same-${at}`)),
    say(foreign, 'nobody has this one'),
  ])
  expect(replies.map(({ status }) => status)).toEqual([...words.map(() => 201), 409])
  const statedIn = async (chat: typeof held) =>
    (await transcript(owner, chat)('GET')).body.messages
      .flatMap((message: { role: string; content: string }) => (message.role === 'operator' ? [message.content] : []))
      .toSorted()
  expect(await statedIn(alone)).toEqual(words.filter((_, at) => at % 2 === 0))
  expect(await statedIn(held)).toEqual(words.filter((_, at) => at % 2 === 1))
  expect(await statedIn(foreign)).toEqual([])
  // The same order again says nothing anew.
  expect((await say(alone, words[0]!, 'same-0')).body.message.id).toBe(replies[0]!.body.message.id)
  const { body: record } = await owner.send('GET', 'audit?action=widget.message_sent')
  expect(record.map(({ requestId }: { requestId: string }) => requestId).toSorted()).toEqual(
    replies.flatMap(({ status, body }) => (status === 201 ? [body.request_id] : [])).toSorted(),
  )
  expect((await owner.send('GET', 'audit/integrity')).body).toMatchObject({ valid: true })
})
