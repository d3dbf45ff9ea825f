/** Hands the token of a sign-in link, which stands after the `#`, to the server, and takes it out of the address. */
function remoteInput(): void {
  const token = location.hash.slice(1)
  if (!token) return
  history.replaceState(null, '', location.pathname)
  const field = document.createElement('input')
  Object.assign(field, { type: 'hidden', name: 'token', value: token })
  const form = document.createElement('form')
  Object.assign(form, { method: 'post', action: location.pathname })
  form.append(field)
  document.body.append(form)
  form.submit()
}

// Another link that is pasted into the address changes only what stands after the `#`.
addEventListener('hashchange', remoteInput)
remoteInput()
