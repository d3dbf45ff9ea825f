/** Posts the token of a sign-in link, which comes after the `#`, to the server, and removes it from the address. */
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

// If another link is pasted into the address, only the part after the `#` changes.
addEventListener('hashchange', remoteInput)
remoteInput()
