/** Addresses that people type for links and images. */

const USABLE = /^(?:https?:\/\/|mailto:|tel:|\[\[)\S*$/i;
const WITHOUT_SCHEME = /^[\w-]+(?:\.[\w-]+)+(?:[/?#]\S*)?$/;

/** `shop.example/new` means a web page. */
export function completed(typed: string): string {
  const address = typed.trim();
  return WITHOUT_SCHEME.test(address) ? `https://${address}` : address;
}

export const isUsable = (address: string): boolean => address === "" || USABLE.test(address);
