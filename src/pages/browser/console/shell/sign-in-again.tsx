import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../shared/http'
import { Button, SendForm, Text } from '../ui/controls'
import { Dialog } from '../ui/overlay'
import { Failure, signedOut, unconfirmed } from './api'
import { at, boot } from './boot'

/** Asks for the password when the session has ended or an action needs a fresh proof. Typed text is kept. */
export function SignInAgain({ isOut }: { isOut: boolean }) {
  const client = useQueryClient()
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const signIn = async () => {
    setBusy(true)
    try {
      const session = { email: boot.user.email, password }
      if (isOut) await call(at('/api/v1/auth/sessions'), { method: 'POST', body: session })
      else await call(at('/api/v1/auth/confirm'), { method: 'POST', body: { password } })
      signedOut.set(false)
      unconfirmed.set(false)
      await client.invalidateQueries()
    } catch (error) {
      setProblem(error instanceof Failure ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      title={isOut ? 'You were signed out' : 'Confirm that it is you'}
      isAlert={isOut}
      onClose={() => unconfirmed.set(false)}
    >
      <SendForm onSend={() => void signIn()}>
        <p>
          {isOut
            ? 'Sign in again to continue. What you typed is kept.'
            : 'This change needs your password. Afterwards try it again; what you typed is kept.'}
        </p>
        <input
          className="hidden"
          aria-label="E-mail address"
          type="email"
          autoComplete="username"
          readOnly
          value={boot.user.email}
          tabIndex={-1}
        />
        <Text
          {...{ type: 'password', autoComplete: 'current-password', required: true, value: password, problem }}
          label={`Password of ${boot.user.email}`}
          onChange={setPassword}
        />
        <div className="actions end">
          {isOut ? (
            <a className="button quiet" href={at('/console/sign-in')}>
              Other ways to sign in
            </a>
          ) : (
            <Button onClick={() => unconfirmed.set(false)}>Cancel</Button>
          )}
          <Button type="submit" kind="primary" busy={busy}>
            {isOut ? 'Sign in' : 'Confirm'}
          </Button>
        </div>
      </SendForm>
    </Dialog>
  )
}
