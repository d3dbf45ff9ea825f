import type { OpsClient } from '../../src/app/client'
import { defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { argument, optional } from '../words'
import { step } from './orgs'

const columns = [
  column('id', 'SESSION'),
  column('user_id', 'USER', { wide: true }),
  column('created', 'OPENED', { kind: 'time' }),
  column('last_seen_at', 'LAST SEEN', { kind: 'time' }),
  column('expires_at', 'EXPIRES', { kind: 'time' }),
]

export const userSessions = defineCommand({
  path: 'users sessions',
  summary: 'List or end the open sessions of an account',
  about:
    'users sessions list USER shows the sessions, last used first. users sessions end USER SESSION signs one out, and end USER all signs out every one. API keys still work; users disable stops those too.',
  examples: ['users sessions list ada@example.com', 'users sessions end ada@example.com all --yes'],
  apis: ['operator'],
  impact: 'write',
  danger: 'moderate',
  exits: [3],
  columns,
  args: {
    verb: argument('list or end'),
    user: argument('account by id or e-mail address'),
    session: optional('with end: the id of a session, or all'),
  },
  async run(shell, { verb, user, session }) {
    if (verb === 'list') return list(shell, await users(shell, user))
    if (verb !== 'end') throw usageFailure(`VERB is "${verb}"; it must be list or end.`)
    if (!session) throw usageFailure('users sessions end needs a session.', 'write its id, or all')
    const title = session === 'all' ? `every session of ${user}` : `session ${session} of ${user}`
    if (shell.planned(`end ${title}`)) return
    shell.confirm(`End ${title}?`)
    const { ended } = expectData(
      await (await users(shell, user))()
        .sessions({ session: step(session) })
        .delete(),
    )
    shell.print.item({ ended }, [column('ended', 'ENDED', { kind: 'number' })])
  },
})

type OneUser = ReturnType<OpsClient['users']>

/** Returns a function instead of the client: a client answers to `then`, so awaiting it never resolves. */
async function users(shell: Shell, user: string): Promise<() => OneUser> {
  const connection = await shell.connect()
  return () => connection.ops().users({ ref: step(user) })
}

async function list(shell: Shell, one: () => OneUser): Promise<void> {
  const { sessions } = expectData(await one().sessions.get())
  shell.print.list(sessions, columns, 'No open sessions.')
}
