import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const blocked = new BlockList();
// Addresses that are not on the public internet (IANA special-purpose registries).
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  blocked.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  blocked.addSubnet(network, prefix, 'ipv6');
}

/** True for an address on the public internet: not loopback, private, link-local, shared, reserved, nor one that wraps such an address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !blocked.check(address, 'ipv4');
  if (family !== 6) return false;
  // `::ffff:a.b.c.d` is the IPv4 address that it wraps; BlockList checks it against the IPv4 rules.
  return !blocked.check(address, 'ipv6');
}

/** The error of a name that leads to an address which is not public. */
class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
}

/**
 * A DNS lookup that gives only public addresses. It is the one whose answer is connected to, so that a name that changes its
 * address between a check and the connection gains nothing. One private address among several refuses the name.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 0);
    const hidden = addresses.find(({ address }) => !isPublicAddress(address));
    const [first] = addresses;
    if (hidden !== undefined || first === undefined) {
      return callback(
        new PrivateAddressError(`${hostname} leads to ${hidden?.address ?? 'no address'}, which is not on the public internet`),
        '',
        0,
      );
    }
    if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
