import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../shared/http'
import { Button, Field } from '../ui/controls'
import { Dialog } from '../ui/overlay'
import { Failure, signedOut } from './api'
import { at, boot } from './boot'

/** The session ended: signing in here keeps what was typed and chosen. */
export function SignInAgain() {
  const client = useQueryClient()
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const signIn = async () => {
    setBusy(true)
    try {
      await call(at('/api/v1/auth/sessions'), { method: 'POST', body: { email: boot.user.email, password } })
      signedOut.set(false)
      await client.invalidateQueries()
    } catch (error) {
      setProblem(error instanceof Failure ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title="You were signed out" isAlert onClose={() => undefined}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void signIn()
        }}
      >
        <p>Sign in again to go on. What you typed is kept.</p>
        <input
          className="hidden"
          aria-label="E-mail address"
          type="email"
          autoComplete="username"
          readOnly
          value={boot.user.email}
          tabIndex={-1}
        />
        <Field label={`Password of ${boot.user.email}`} problem={problem}>
          {(props) => (
            <input
              {...props}
              type="password"
              autoComplete="current-password"
              required
              value={password}
              onChange={({ target }) => setPassword(target.value)}
            />
          )}
        </Field>
        <div className="actions end">
          <a className="button quiet" href={at('/console/sign-in')}>
            Other ways to sign in
          </a>
          <Button type="submit" kind="primary" busy={busy}>
            Sign in
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
