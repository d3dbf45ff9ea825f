import { expect, test } from 'bun:test'
import { allCommands } from '../../cli/registry'
import { createFullWorld, LINK, WORD } from '../operators/everything'
import { cliOver } from '../support/cli'
import { fakeIo } from '../support/io'

const { world, ada, things, keyOf } = await createFullWorld()
const [viewer, support] = [await keyOf('viewer'), await keyOf('support')]
const run = cliOver(world)

const lists = (await allCommands())
  .filter(
    ({ path, apis, impact }) =>
      / list$/.test(path) && path !== 'members list' && apis.includes('operator') && impact === 'read',
  )
  .map(({ path }) => path.split(' '))

/** Commands that read one thing, and whether they are refused because it is content. */
const LINES: readonly (readonly string[])[] = [
  ['keys', 'get', ada.keyId],
  ['limits', 'get', things.increase.id],
  ['orgs', 'get', things.org.id],
  ['members', 'list', '--org', things.org.id],
  ['policies', 'export', '--org', things.org.id],
  ['users', 'get', ada.userId],
  ['credits', 'ledger', ada.userId],
  ['usage', 'show', ada.userId],
  ['skills', 'get', things.skill.slug],
  ['submissions', 'get', things.skill.id],
  ['workflows', 'get', things.workflow.id],
  ['workflows', 'runs', 'list', things.workflow.id],
  ['workflows', 'runs', 'get', things.workflow.id, things.run.id],
  ['canvases', 'get', things.canvas],
  ['guardrails', 'get', things.policy.id],
  ['routing', 'get', things.preference.id],
  ['routing', 'corrections', 'list'],
  ['jobs', 'get', things.job],
  ['jobs', 'get', things.job, '--result'],
  ['conversations', 'get', things.completion.conversation_id],
  ['artifacts', 'get', things.artifact.id],
  ['webhooks', 'get', things.webhook.id],
  ['webhooks', 'stats', things.webhook.id],
  ['hooks', 'get', things.hook.id],
  ['widgets', 'get', things.chat.id],
  ['takeovers', 'transcript', things.chat.sessionId],
  ['audit', 'list', ada.userId],
  ['audit', 'actions', ada.userId],
  ['trace', things.completion.request_id],
  ['status'],
  ['verify'],
]

test.each([...lists, ...LINES])(
  '%s %s %s answers a viewer without a word of others, or says whom to ask',
  async (...line) => {
    const words = (line as (string | undefined)[]).filter((word) => word !== undefined)
    for (const [width, flags] of [
      [100, []],
      [200, ['-o', 'wide']],
      [null, ['--json']],
    ] as const) {
      const { exitCode, stdout, stderr } = await run([...words, ...flags], { key: viewer, io: fakeIo({ width }) })
      expect(stderr).not.toMatch(/unexpected|TypeError|undefined/)
      expect([0, 3, 4, 9], `${words.join(' ')}: ${stderr}`).toContain(exitCode)
      expect(stdout + stderr).not.toContain(WORD)
      expect(stdout).not.toMatch(LINK)
      if (exitCode === 4)
        expect(stderr.replace(/\s+/g, ' ')).toMatch(/[Aa]sk an operator with (the role support|another role)/)
    }
  },
)

test('support sees what is empty for a viewer', async () => {
  const line = ['workflows', 'runs', 'list', things.workflow.id, '--json']
  expect((await run(line, { key: support })).stdout).toContain(WORD)
  const { stdout, stderr } = await run(line, { key: viewer })
  expect(JSON.parse(stdout)[0]).toMatchObject({ id: things.run.id, status: 'completed' })
  expect(stderr).toContain('Hidden for your operator role: triggerData, output, error, warnings.')
})
