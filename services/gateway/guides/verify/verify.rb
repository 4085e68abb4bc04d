require "openssl"

# body as it came: request.raw_post. True where the endpoint's secret signed it, within five minutes.
def verify(secret, id, timestamp, signatures, body)
  return false unless timestamp.match?(/\A\d+\z/) && (Time.now.to_i - timestamp.to_i).abs <= 300

  key = secret.delete_prefix("whsec_").unpack1("m")
  expected = "v1," + [OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{timestamp}.#{body}")].pack("m0")
  signatures.split(" ").any? { |given| OpenSSL.secure_compare(expected, given) }
end
