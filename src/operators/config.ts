import { setting } from '../kernel/config'
import { form } from '../kernel/form'
import { t } from '../kernel/schema'

export const operatorSettings = {
  opsListen: setting({
    env: 'SVC_OPS_LISTEN',
    schema: t.String({
      pattern: form('^$|^[^\\s/]+:\\d{1,5}$', 'a host and a port, such as 127.0.0.1:3401, or empty'),
    }),
    default: '',
    about:
      'host:port of the operator API for svc-admin on other machines, with operator keys. Off unless set. Beyond loopback it needs a certificate.',
  }),
  opsTlsCert: setting({
    env: 'SVC_OPS_TLS_CERT',
    schema: t.String(),
    default: '',
    about: 'PEM file of the certificate of SVC_OPS_LISTEN.',
  }),
  opsTlsKey: setting({
    env: 'SVC_OPS_TLS_KEY',
    schema: t.String(),
    default: '',
    about: 'PEM file of the private key of that certificate.',
  }),
}
