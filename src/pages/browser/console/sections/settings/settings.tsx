import type { OwnSessions } from '../../../../../accounts/auth/schema'
import type { Settings as Account } from '../../../../../accounts/settings-schema'
import { useGet, useOwner, useSend } from '../../shell/api'
import { boot } from '../../shell/boot'
import { Form } from '../../shell/form'
import { useShortcuts } from '../../shell/keys'
import { Page } from '../../shell/page'
import { denseRows, keep } from '../../shell/value'
import { Button, Check, Chip } from '../../ui/controls'
import { Card, Facts, Lines } from '../../ui/facts'
import { type FormField, field } from '../../ui/fields'
import { Ago } from '../../ui/format'
import { Failed, Shown } from '../../ui/states'

const MODES = ['auto', 'fast', 'think', 'code', 'research', 'image', 'video', 'roast'] as const
const ZONES = Intl.supportedValuesOf('timeZone')

const ACCOUNT: readonly FormField[] = [
  field('default_mode', 'Default mode', { kind: 'choice', choices: MODES, help: 'For requests that name none.' }),
  field('timezone', 'Time zone', {
    kind: 'choice',
    choices: ['UTC', ...ZONES.filter((zone) => zone !== 'UTC')].map(
      (zone) => [zone, zone.replaceAll('_', ' ')] as const,
    ),
    help: 'Days of charts and statements begin at its midnight.',
  }),
  field('personality', 'Voice of the answers', {
    kind: 'choice',
    choices: { svc: 'The voice of this server', none: 'None' },
  }),
  field('svc_branding', 'Show the name of this server in answers', {
    kind: 'check',
    help: 'Off: replies carry no persona, mascot or label.',
  }),
  field('keep_bodies', 'Keep the requests and answers of my calls', {
    kind: 'check',
    help: 'Only where the operator allows it. Never those of stealth modes, nor what a guardrail changed.',
  }),
  field('keep_bodies_days', 'Days to keep them', { kind: 'number', min: 1, max: 30 }),
]

const NAME: readonly FormField[] = [field('name', 'Name', { empty: 'null' })]

const PASSWORD: readonly FormField[] = [
  field('current', 'Current password', { kind: 'password' }),
  field('new', 'New password', { kind: 'password', required: true, help: '8 to 200 characters.' }),
]

export default function Settings() {
  const owner = useOwner()
  const settings = useGet<Account>('/settings')
  const { user } = boot
  const [isOn, setOn] = useShortcuts()
  const isDense = denseRows.use()
  const setDense = (is: boolean) => {
    denseRows.set(is)
    keep('dense', is || null)
  }
  return (
    <Page title="Settings">
      <div className="parts">
        <Card title="You">
          <Facts of={{ 'E-mail': user.email, 'Role here': owner.role }} />
          <Form fields={NAME} values={user} method="PATCH" path="/auth/me" touches={['/auth/me']} verb="Save name" />
          <Check label="Single-key shortcuts" help="Press ? on any page to see them." checked={isOn} onChange={setOn} />
          <Check label="Dense rows" help="In lists of this browser." checked={isDense} onChange={setDense} />
        </Card>
        <Card title="Answers and reports">
          <Shown of={settings}>
            {(values) => (
              <Form
                fields={ACCOUNT}
                values={values}
                method="PATCH"
                path="/settings"
                touches={['/settings']}
                verb="Save"
              />
            )}
          </Shown>
        </Card>
        <Card title="Password">
          <p className="faint">A new password ends all your other sessions.</p>
          <Form
            fields={user.has_password ? PASSWORD : PASSWORD.slice(1)}
            method="POST"
            path="/auth/password"
            touches={['/auth']}
            verb="Set password"
          />
        </Card>
        <Sessions />
      </div>
    </Page>
  )
}

const PROGRAMS = { 'Edg/': 'Edge', 'OPR/': 'Opera', 'Firefox/': 'Firefox', 'Chrome/': 'Chrome', 'Safari/': 'Safari' }
const SYSTEMS = ['iPhone', 'iPad', 'Android', 'Windows', 'Mac OS', 'CrOS', 'Linux'] as const

/** The program of a session in readable form: "Chrome on Linux". An unknown agent is shown unchanged. */
function programOf(agent: string | null): string {
  if (agent === null) return 'Unknown program'
  const program = Object.entries(PROGRAMS).find(([mark]) => agent.includes(mark))?.[1]
  const system = SYSTEMS.find((name) => agent.includes(name))
  return program ? `${program}${system ? ` on ${system}` : ''}` : agent.split(' ')[0]!
}

/** The reader's sessions, with buttons to end one or all others. */
function Sessions() {
  const sessions = useGet<OwnSessions>('/auth/sessions')
  const end = useSend<unknown, string>('DELETE', (id) => `/auth/sessions${id}`, ['/auth/sessions'])
  return (
    <Card title="Where you are signed in">
      <Shown of={sessions} rows={2}>
        {({ sessions: open }) => (
          <Lines
            of={open.toSorted((a, b) => Number(b.current) - Number(a.current))}
            most={5}
            line={({ id, user_agent, ip, last_used_at, current }) => ({
              key: id,
              text: <span title={user_agent ?? undefined}>{programOf(user_agent)}</span>,
              small: (
                <>
                  {ip ?? 'unknown address'}, last used <Ago at={last_used_at} />
                </>
              ),
              end: current ? (
                <Chip state="good">this one</Chip>
              ) : (
                <Button busy={end.isPending} onClick={() => end.mutate(`/${id}`)}>
                  End
                </Button>
              ),
            })}
          />
        )}
      </Shown>
      {end.error && <Failed problem={end.error} />}
      <div className="actions end">
        <Button
          kind="danger"
          busy={end.isPending}
          disabled={(sessions.data?.sessions.length ?? 0) < 2}
          onClick={() => end.mutate('?others=1')}
        >
          End all others
        </Button>
      </div>
    </Card>
  )
}
