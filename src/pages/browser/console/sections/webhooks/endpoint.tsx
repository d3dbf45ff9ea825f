import { useState } from 'react'
import { SAMPLES } from '../../../../../events/samples'
import type { Webhook } from '../../../../../webhooks/schema'
import { Form, savingOf } from '../../shell/form'
import { Button, Check, Choices, Code, Secret, Text } from '../../ui/controls'
import { type FormField, field } from '../../ui/fields'

/** The events of this server, grouped by the first word of their names. */
export const EVENTS = Object.entries(SAMPLES)
const FAMILIES = [...new Set(EVENTS.map(([type]) => type.split('.')[0]!))]

type PickerProps = { value: readonly string[]; onChange(value: readonly string[]): void }

/** Chooses the events to send: all, or some of the catalogue and of the reader's own. */
function EventPicker({ value, onChange }: PickerProps) {
  const isAll = value.includes('*')
  const known = new Set(EVENTS.map(([type]) => type))
  const others = value.filter((type) => type !== '*' && !known.has(type as keyof typeof SAMPLES))
  const [written, setWritten] = useState(others.join(' '))
  const chosen = value.filter((type) => known.has(type as keyof typeof SAMPLES))
  const set = (next: readonly string[], text = written) => onChange([...next, ...text.split(/[\s,]+/).filter(Boolean)])
  return (
    <fieldset>
      <legend>Events</legend>
      <Choices
        label="Which events"
        value={isAll ? 'all' : 'some'}
        choices={{ all: 'Every event', some: 'These' }}
        onChange={(which) => (which === 'all' ? onChange(['*']) : set(chosen))}
      />
      {!isAll && (
        <>
          {FAMILIES.map((family) => {
            const events = EVENTS.filter(([type]) => type.startsWith(`${family}.`))
            const many = events.filter(([type]) => chosen.includes(type)).length
            return (
              <details key={family} className="events" open={many > 0 || undefined}>
                <summary>
                  {family} <small>{many > 0 ? `${many} of ${events.length}` : events.length}</small>
                </summary>
                {events.map(([type, { about, data }]) => (
                  <div key={type}>
                    <Check
                      label={type}
                      help={`${about}.`}
                      checked={chosen.includes(type)}
                      onChange={(is) => set(is ? [...chosen, type] : chosen.filter((it) => it !== type))}
                    />
                    {chosen.includes(type) && (
                      <details>
                        <summary>What it holds</summary>
                        <Code text={JSON.stringify(data, null, 2)} label={`sample of ${type}`} />
                      </details>
                    )}
                  </div>
                ))}
              </details>
            )
          })}
          <Text
            label="Your own events and event families"
            help="Separated by spaces, such as order.created or skill.*."
            autoComplete="off"
            value={written}
            onChange={(text) => {
              setWritten(text)
              set(chosen, text)
            }}
          />
        </>
      )}
    </fieldset>
  )
}

const LANGUAGES = {
  TypeScript: `import { createHmac, timingSafeEqual } from 'node:crypto'

export function isGenuine(headers: Headers, body: string): boolean {
  const time = headers.get('svc-webhook-timestamp') ?? ''
  const given = (headers.get('svc-webhook-signature') ?? '').replace('v1=', '')
  const hmac = createHmac('sha256', process.env.SVC_WEBHOOK_SECRET!)
  const wanted = hmac.update(\`\${time}.\${body}\`).digest('hex')
  const isFresh = Math.abs(Date.now() / 1000 - Number(time)) < 300
  return isFresh && given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted))
}`,
  Python: `import hashlib, hmac, os, time

def is_genuine(headers, body: bytes) -> bool:
    sent_at = headers.get("svc-webhook-timestamp", "0")
    given = headers.get("svc-webhook-signature", "").removeprefix("v1=")
    secret = os.environ["SVC_WEBHOOK_SECRET"].encode()
    wanted = hmac.new(secret, sent_at.encode() + b"." + body, hashlib.sha256).hexdigest()
    is_fresh = abs(time.time() - int(sent_at)) < 300
    return is_fresh and hmac.compare_digest(given, wanted)`,
  Go: `func isGenuine(header http.Header, body []byte) bool {
	sentAt := header.Get("svc-webhook-timestamp")
	given := strings.TrimPrefix(header.Get("svc-webhook-signature"), "v1=")
	mac := hmac.New(sha256.New, []byte(os.Getenv("SVC_WEBHOOK_SECRET")))
	mac.Write([]byte(sentAt + "." + string(body)))
	wanted := hex.EncodeToString(mac.Sum(nil))
	seconds, _ := strconv.ParseInt(sentAt, 10, 64)
	age := time.Since(time.Unix(seconds, 0)).Abs()
	return age < 5*time.Minute && hmac.Equal([]byte(given), []byte(wanted))
}`,
} as const
type Language = keyof typeof LANGUAGES
const NAMES = { TypeScript: 'TypeScript', Python: 'Python', Go: 'Go' }

/** Shows a secret once, with code that verifies signatures made with it. */
export function NewSecret({ secret, onDone }: { secret: string; onDone(): void }) {
  const [language, setLanguage] = useState<Language>('TypeScript')
  return (
    <div className="form">
      <p className="notice good" role="status">
        The signing secret is shown only now. Keep it as SVC_WEBHOOK_SECRET of your server.
      </p>
      <Secret label="Signing secret" value={secret}>
        <Button kind="primary" onClick={onDone}>
          I have stored it
        </Button>
      </Secret>
      <h3>Verify what arrives</h3>
      <Choices label="Language" value={language} choices={NAMES} onChange={setLanguage} />
      <Code text={LANGUAGES[language]} label={`${language} code`} />
    </div>
  )
}

/** Creates an endpoint, or changes one. */
export function EndpointForm({ of, onDone, onCancel }: { of?: Webhook; onDone(): void; onCancel?: () => void }) {
  const [events, setEvents] = useState<readonly string[]>(of?.event_types ?? ['completion.created'])
  const [url, setUrl] = useState(of?.url ?? '')
  const [secret, setSecret] = useState<string | null>(null)
  if (secret) return <NewSecret secret={secret} onDone={onDone} />
  return (
    <Form<Webhook & { signing_secret?: string }>
      fields={FIELDS}
      values={of}
      {...savingOf('/webhooks', of, 'Add endpoint')}
      more={{ event_types: events }}
      onCancel={onCancel}
      onChange={(body) => setUrl(String(body.url ?? ''))}
      onDone={({ signing_secret }) => (signing_secret ? setSecret(signing_secret) : onDone())}
    >
      {LOCAL.test(url) && (
        <p className="notice">
          This server does not call addresses of its own network. To receive events on this machine, run{' '}
          <code>svc-admin webhooks listen</code>.
        </p>
      )}
      <EventPicker value={events} onChange={setEvents} />
    </Form>
  )
}

const LOCAL = /^https?:\/\/(localhost|127\.|\[::1\])/
const FIELDS: readonly FormField[] = [
  field('url', 'Address', { required: true, help: 'Of your server, reachable over https.' }),
  field('description', 'Note', { empty: 'null' }),
  field('ordered', 'In order', {
    kind: 'check',
    help: 'One delivery at a time; the next waits until one is accepted or given up.',
  }),
]
