import { useState } from 'react'
import type { ApiKeyWithSecret } from '../../../../../accounts/keys/schema'
import { useOwner, useSend } from '../../shell/api'
import { at, DOCS } from '../../shell/boot'
import { Button, Code, CopyButton, Field } from '../../ui/controls'
import { Failed } from '../../ui/states'

const SCOPES = [
  ['completions', 'Answers, chat, images, audio, documents and research'],
  ['skills', 'Skills, canvases, workflows and hooks'],
  ['tools', 'Tools, code and browsers'],
  ['connectors', 'Webhooks, widgets and channels'],
  ['billing', 'Credit, usage exports and rate limits'],
] as const
const EXPIRY = { never: 'Never', 30: 'In 30 days', 90: 'In 90 days', 365: 'In a year' } as const
/** What parameters such as top_p do in chats. */
export const CHAT_PARAMETERS = { by_base: 'as the base address says', honor: 'honored', ignore: 'ignored' } as const
const DAY_MS = 86_400_000

const cents = (dollars: string): number | undefined => (dollars ? Math.round(Number(dollars) * 100) : undefined)

/** One page with everything about a new key; its secret is shown once afterwards. */
export function NewKey({ close }: { close(): void }) {
  const owner = useOwner()
  const create = useSend<ApiKeyWithSecret, object>('POST', '/keys', ['/keys'])
  const [form, setForm] = useState({
    name: '',
    monthly: '',
    daily: '',
    rpm: '',
    origins: '',
    expiry: 'never',
    chats: 'by_base',
  })
  const [scopes, setScopes] = useState<string[]>(SCOPES.map(([scope]) => scope))
  const field = (name: keyof typeof form) => ({
    value: form[name],
    onChange: ({ target }: { target: { value: string } }) => setForm({ ...form, [name]: target.value }),
  })
  const problemOf = (path: string) => create.error?.details.find((detail) => detail.path === path)?.message

  if (create.data) return <Secret made={create.data} close={close} />
  const save = () => {
    const origins = form.origins.split(/[\s,]+/).filter(Boolean)
    create.mutate({
      name: form.name.trim() || undefined,
      scopes,
      scope: owner.id ? 'org' : 'personal',
      ...(owner.id ? { org_id: owner.id } : {}),
      monthly_cap_cents: cents(form.monthly),
      daily_cap_cents: cents(form.daily),
      rpm_limit: form.rpm ? Number(form.rpm) : undefined,
      allowed_origins: origins.length ? origins : undefined,
      chat_parameters: form.chats,
      expires_at:
        form.expiry === 'never' ? undefined : new Date(Date.now() + Number(form.expiry) * DAY_MS).toISOString(),
    })
  }
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <Field label="Name" help="Who or what uses it, such as “web shop”." problem={problemOf('name')}>
        {(props) => <input {...props} {...field('name')} maxLength={128} required autoComplete="off" />}
      </Field>
      <p className="faint">Paid by {owner.id ? owner.name : 'your personal account'}.</p>
      <fieldset>
        <legend>May use</legend>
        {SCOPES.map(([scope, about]) => (
          <label key={scope} className="check">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={({ target }) =>
                setScopes(target.checked ? [...scopes, scope] : scopes.filter((it) => it !== scope))
              }
            />
            <span>
              {scope}
              <small>{about}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <div className="pair">
        <Field label="Monthly cap, in dollars" help="Empty: no cap." problem={problemOf('monthly_cap_cents')}>
          {(props) => (
            <input {...props} {...field('monthly')} type="number" min="0.01" step="0.01" inputMode="decimal" />
          )}
        </Field>
        <Field label="Daily cap, in dollars" help="Empty: no cap." problem={problemOf('daily_cap_cents')}>
          {(props) => <input {...props} {...field('daily')} type="number" min="0.01" step="0.01" inputMode="decimal" />}
        </Field>
        <Field label="Requests a minute" help="Empty: the tier's limit." problem={problemOf('rpm_limit')}>
          {(props) => <input {...props} {...field('rpm')} type="number" min="1" inputMode="numeric" />}
        </Field>
        <Field label="Expires" problem={problemOf('expires_at')}>
          {(props) => (
            <select {...props} {...field('expiry')}>
              {Object.entries(EXPIRY).map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Field label="Chat parameters" help="Such as top_p, max_tokens and stop." problem={problemOf('chat_parameters')}>
        {(props) => (
          <select {...props} {...field('chats')}>
            {Object.entries(CHAT_PARAMETERS).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field
        label="Pages that may use it"
        help="Origins such as https://app.example, with blanks in between. Empty: all."
        problem={problemOf('allowed_origins') ?? problemOf('allowed_origins.0')}
      >
        {(props) => <input {...props} {...field('origins')} autoComplete="off" />}
      </Field>
      {create.error && <Failed problem={create.error} docs={DOCS} />}
      <div className="actions end">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" kind="primary" busy={create.isPending}>
          Create key
        </Button>
      </div>
    </form>
  )
}

/** The secret, this once: to copy, to download, and in a first call. */
export function Secret({ made: { key, name }, close }: { made: { key: string; name: string }; close(): void }) {
  const [isStored, setStored] = useState(false)
  const base = new URL(at('/api/v1'), location.origin).href
  const download = () => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([`SVC_API_KEY=${key}\nSVC_BASE_URL=${base}\n`], { type: 'text/plain' }))
    link.download = '.env'
    link.click()
    URL.revokeObjectURL(link.href)
  }
  const curl = `curl ${base}/completions \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"prompt": "What is 17 * 23?"}'`
  return (
    <div className="form">
      <p className="notice good" role="status">
        “{name}” is ready. This is its secret: it is shown only now.
      </p>
      <label className="field">
        Secret
        <input className="mono" readOnly value={key} onFocus={({ target }) => target.select()} />
      </label>
      <div className="actions">
        <CopyButton text={key} label="Copy secret" />
        <Button onClick={download}>Download .env</Button>
      </div>
      <h3>A first call</h3>
      <Code text={curl} label="first call" />
      <label className="check">
        <input type="checkbox" checked={isStored} onChange={({ target }) => setStored(target.checked)} />I have stored
        it
      </label>
      <div className="actions end">
        <Button kind="primary" disabled={!isStored} onClick={close}>
          Done
        </Button>
      </div>
    </div>
  )
}
