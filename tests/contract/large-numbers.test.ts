// Both databases: every route is asked, and each has statements.
import { expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld()
const ada = await world.person()

const LARGE = '12345678901234567891'

/** Routes that keep JSON of any form or pass it on, with the member that holds it. */
test.each([
  ['POST', 'events', `{"orgId":"${ada.userId}","eventType":"a.b","payload":@}`, 'payload'],
  ['POST', 'completions', '{"prompt":"x","metadata":@}', 'metadata'],
  ['POST', 'chat/completions', '{"messages":[{"role":"user","content":"x"}],"metadata":@}', 'metadata'],
  [
    'POST',
    'workflows',
    '{"name":"F","triggerType":"manual","steps":[{"type":"transform","config":{"template":@}}]}',
    'steps[0].config.template',
  ],
  ['PATCH', 'settings', '{"x":@}', 'x'],
  ['POST', 'hooks', '{"config":@}', 'config'],
  ['POST', 'iframes', '{"behavior":@}', 'behavior'],
  ['POST', 'webhooks/x/test', '{"data":@}', 'data'],
])('%s /%s refuses a whole number that JSON would change, and says where it stands', async (method, path, body, at) => {
  const text = body.replace('@', `{"list":[1,{"id":${LARGE}}]}`)
  const { status, body: answer } = await ada.send(method, path, text)
  expect({ status, ...answer.error }).toMatchObject({
    status: 400,
    code: 'validation_error',
    param: `${at}.list[1].id`,
  })
  expect(answer.error.message).toContain('Send it as a string')
})

test('what JSON keeps comes back as it was sent', async () => {
  const payload =
    '{"most":9007199254740991,"even":9007199254740994,"small":-1,"part":0.1,"text":"12345678901234567891"}'
  const order = `{"orgId":"${ada.userId}","eventType":"order.kept","payload":${payload}}`
  expect((await ada.send('POST', 'events', order)).status).toBe(201)
  expect(JSON.stringify((await ada.send('GET', 'events?eventType=order.kept')).body.events[0].payload)).toBe(payload)
})
