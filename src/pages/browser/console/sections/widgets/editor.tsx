import { useEffect, useState } from 'react'
import type { Analytics, PreviewToken, Widget } from '../../../../../widgets/schema'
import { Actions, deletion } from '../../shell/actions'
import { useCalls, useGet } from '../../shell/api'
import { at } from '../../shell/boot'
import { Form } from '../../shell/form'
import { Chip, Choices, Code, Id, Secret } from '../../ui/controls'
import { Facts, Grid, Lines } from '../../ui/facts'
import { type FormField, field } from '../../ui/fields'
import { duration, money, whole } from '../../ui/format'
import { Failed, type Problem, Shown } from '../../ui/states'

const PARTS: Record<string, readonly FormField[]> = {
  appearance: [
    field('name', 'Name', { required: true }),
    field('appearance.title', 'Title', { empty: 'text' }),
    field('appearance.primaryColor', 'Colour', { help: 'A colour name such as teal, or its hex value.' }),
    field('appearance.theme', 'Theme', {
      kind: 'choice',
      choices: { auto: "the visitor's setting", light: 'light', dark: 'dark' },
    }),
    field('appearance.position', 'Place', {
      kind: 'choice',
      choices: { 'bottom-right': 'right, below', 'bottom-left': 'left, below' },
    }),
    field('appearance.launcherText', 'Button text', { empty: 'text' }),
    field('appearance.borderRadius', 'Round corners, in pixels', { kind: 'number', min: 0, max: 64 }),
    field('appearance.fontFamily', 'Font'),
    field('appearance.logoUrl', 'Logo, an https address', { empty: 'text' }),
    field('appearance.hideBranding', 'Without the name of this server', { kind: 'check' }),
    field('appearance.customCss', 'Custom CSS', { kind: 'area', empty: 'text' }),
  ],
  behavior: [
    field('behavior.welcomeMessage', 'Greeting', { kind: 'area', empty: 'text' }),
    // The API's name for the grey text in the visitor's empty field.
    field('behavior.placeholder', 'Hint in the field', { empty: 'text' }),
    field('behavior.suggestedPrompts', 'Questions to start with', { kind: 'lines', help: 'One per line, at most 6.' }),
    field('behavior.mode', 'Mode of the answers'),
    field('behavior.skills', 'Skills', { kind: 'list', help: 'Short names, separated by spaces.' }),
    field('behavior.maxPromptLength', 'Maximum characters per message', { kind: 'number', min: 1, max: 10_000 }),
    field('behavior.enableFileUpload', 'Visitors may attach pictures', { kind: 'check' }),
    field('behavior.enableVoice', 'Visitors may speak', { kind: 'check' }),
    field('behavior.strictAbuse', 'Limit rapid and repeated messages', { kind: 'check' }),
  ],
  security: [
    field('security.allowedOrigins', 'Sites that may show it', {
      kind: 'list',
      help: 'Origins, separated by spaces. Empty: those of the key.',
    }),
    field('security.sessionTtlMinutes', 'Minutes that a chat stays open', { kind: 'number', min: 5 }),
    field('security.maxMessagesPerSession', 'Maximum messages per chat', { kind: 'number', min: 1 }),
    field('security.requireTurnstile', 'Visitors must pass a bot check', { kind: 'check' }),
  ],
  intents: [
    field('intents.enabled', 'Do something when a visitor writes one of these', { kind: 'check' }),
    field('intents.keywords', 'Words', { kind: 'lines', help: 'One per line.' }),
    field('intents.action', 'Then', {
      kind: 'choice',
      choices: {
        takeover: 'ask for a person',
        message: 'say the message',
        redirect: 'lead to the address',
        webhook: 'call the address',
      },
    }),
    field('intents.url', 'Address', { empty: 'null' }),
    field('intents.message', 'Message', { kind: 'area', empty: 'null' }),
  ],
}
const LOST = 'It disappears from your site, and its conversations are gone. This cannot be undone.'
type Part = 'appearance' | 'behavior' | 'security' | 'intents' | 'site' | 'figures'
const LABELS: Record<Part, string> = {
  appearance: 'Look',
  behavior: 'Behaviour',
  security: 'Security',
  intents: 'Intents',
  site: 'On your site',
  figures: 'Figures',
}

/** A widget's settings, beside a preview as visitors see it. */
export function WidgetEditor({ row: widget, close }: { row: Widget; close(): void }) {
  const [part, setPart] = useState<Part>('appearance')
  const path = `/iframes/${widget.id}`
  const fields = PARTS[part]
  return (
    <div className="editor">
      <div className="editor-main">
        <div className="wraps">
          <Choices label="Part" value={part} onChange={setPart} choices={LABELS} />
        </div>
        {fields && (
          <Form
            key={part}
            fields={fields}
            values={widget}
            method="PATCH"
            path={path}
            touches={['/iframes']}
            verb="Save"
            permission="manageConnectors"
          />
        )}
        {part === 'site' && <Site widget={widget} />}
        {part === 'figures' && <Figures path={path} />}
        <Actions
          touches={['/iframes']}
          permission="manageConnectors"
          actions={[
            {
              label: widget.status === 'active' ? 'Switch off' : 'Switch on',
              method: 'PATCH',
              path,
              body: { status: widget.status === 'active' ? 'disabled' : 'active' },
            },
            { label: 'Duplicate', path: `${path}/duplicate`, body: {} },
            { ...deletion(path, LOST, close), typed: widget.name },
          ]}
        />
      </div>
      <Preview widget={widget} />
    </div>
  )
}

/** The widget in a frame, reloaded after each change. A token that is valid for 15 minutes allows showing it here. */
function Preview({ widget }: { widget: Widget }) {
  const calls = useCalls()
  const [source, setSource] = useState<string | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [size, setSize] = useState<'desktop' | 'phone'>('desktop')
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the widget asks for a new preview
  useEffect(() => {
    let isGone = false
    calls.json<PreviewToken>('POST', `/iframes/${widget.id}/preview-token`, { body: {} }).then(
      ({ token }) =>
        !isGone && setSource(at(`/embed/widget/${widget.id}?preview=${encodeURIComponent(token)}#inline=1`)),
      (error: Problem) => !isGone && setProblem(error),
    )
    return () => {
      isGone = true
    }
  }, [widget.id, widget.updated_at])
  return (
    <section className="card part try" aria-labelledby="preview">
      <div className="between">
        <h3 id="preview">Preview</h3>
        <Choices label="Size" value={size} onChange={setSize} choices={{ desktop: 'Desktop', phone: 'Phone' }} />
      </div>
      {problem && <Failed problem={problem} />}
      {source && <iframe key={source} className={`preview ${size}`} src={source} title={`Preview of ${widget.name}`} />}
      <p className="faint">Messages here are answered and charged as on your site.</p>
    </section>
  )
}

type Checked = { verified: boolean; record: { name: string; value: string }; method: 'dns' | 'file' }

const CheckedDomain = ({ verified, record, method }: Checked) => (
  <div className="notice" role="status">
    <Chip state={verified ? 'good' : 'bad'}>{verified ? 'verified' : 'not yet'}</Chip>
    {!verified && (
      <p>
        {method === 'dns' ? 'Add the TXT record' : 'Put a file'} <code>{record.name}</code> with{' '}
        <code>{record.value}</code>, then check again.
      </p>
    )}
  </div>
)

function Site({ widget }: { widget: Widget }) {
  const path = `/iframes/${widget.id}`
  return (
    <>
      <h3>Paste this into your page</h3>
      <Code text={widget.embed_snippet} label="snippet" />
      <Facts of={{ Id: <Id id={widget.id} />, Key: <Id id={widget.api_key_id} /> }} />
      <Actions
        touches={[]}
        permission="manageConnectors"
        actions={[
          {
            label: 'Check a domain…',
            path: `${path}/verify`,
            fields: [
              field('domain', 'Host name', { required: true, help: 'Such as shop.example' }),
              field('method', 'How', { kind: 'choice', choices: { dns: 'a DNS record', file: 'a file on the site' } }),
            ],
            shows: CheckedDomain,
          },
          {
            label: 'New identity secret…',
            path: `${path}/identity-secret`,
            body: {},
            ask: 'It signs who your visitors are. The old one stops working at once.',
            shows: ({ secret }: { secret: string }) => (
              <>
                <p className="notice good" role="status">
                  The identity secret is shown only now.
                </p>
                <Secret label="Identity secret" value={secret} />
              </>
            ),
          },
        ]}
      />
    </>
  )
}

function Figures({ path }: { path: string }) {
  const analytics = useGet<Analytics>(`${path}/analytics`)
  return (
    <Shown of={analytics}>
      {({ totals, by_day, top_origins }) => (
        <>
          <Facts
            of={{
              Chats: whole(totals.sessions),
              Messages: `${whole(totals.messages)}, ${totals.avg_messages_per_session.toFixed(1)} a chat`,
              Visitors: whole(totals.visitors),
              'Taken over': whole(totals.takeovers),
              'First answer':
                totals.avg_first_response_ms === null ? 'none yet' : duration(totals.avg_first_response_ms),
              Rating: totals.csat === null ? 'none yet' : `${totals.csat.toFixed(1)} of 5`,
              Cost: money(totals.cost_cents),
            }}
          />
          {by_day.length > 0 && (
            <Grid
              label="By day"
              heads={['Day', 'Chats', 'Messages', 'Cost']}
              rows={by_day.map(({ date, sessions, messages, cost_cents }) => ({
                key: date,
                cells: [date, whole(sessions), whole(messages), money(cost_cents)],
              }))}
            />
          )}
          <Lines
            of={top_origins}
            line={({ origin, sessions }) => ({ key: origin, mark: <b>{whole(sessions)}</b>, text: origin })}
          />
        </>
      )}
    </Shown>
  )
}
