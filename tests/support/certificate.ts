import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'

/* Just enough DER for one self-signed certificate: no secret in the repository, and no other program. */

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  const { length } = body
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}
const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const hex = (text: string) => Buffer.from(text, 'hex')
const integer = (bytes: string) => der(0x02, hex(bytes))
const oid = (bytes: string) => der(0x06, hex(bytes))
const utcTime = (word: string) => der(0x17, Buffer.from(word))

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'))
const NAME = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('localhost')))))
/** subjectAltName: localhost and 127.0.0.1. */
const NAMES = sequence(
  oid('551d11'),
  der(0x04, sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])))),
)
const AUTHORITY = sequence(oid('551d13'), der(0x01, hex('ff')), der(0x04, sequence(der(0x01, hex('ff')))))

const pem = (title: string, body: Buffer) =>
  `-----BEGIN ${title}-----\n${body.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()}\n-----END ${title}-----\n`

/**
 * A fresh self-signed certificate for localhost and its key, as PEM; valid from 2020 to the end of the year `until`.
 */
export function selfSigned({ until = 2049 } = {}): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const body = sequence(
    der(0xa0, integer('02')),
    integer('01'),
    ECDSA_WITH_SHA256,
    NAME,
    sequence(utcTime('200101000000Z'), utcTime(`${until % 100}1231235959Z`)),
    NAME,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(AUTHORITY, NAMES)),
  )
  const signature = sign(privateKey, body)
  const whole = sequence(body, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature))
  return { cert: pem('CERTIFICATE', whole), key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string }
}

const sign = (key: KeyObject, body: Buffer): Buffer => createSign('sha256').update(body).sign(key)
