<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:set="http://exslt.org/sets" exclude-result-prefixes="set">
  <xsl:output method="html" indent="yes"/>
  <xsl:key name="by-day" match="order" use="substring(@day, 1, 7)"/>
  <xsl:param name="title" select="'Orders'"/>
  <xsl:variable name="months" select="set:distinct(//order/@day)"/>
  <xsl:template match="/">
    <html><head><title><xsl:value-of select="$title"/></title></head>
      <body>
        <p><xsl:value-of select="count($months)"/> days, <xsl:value-of select="count(key('by-day', '2024-02'))"/></p>
        <xsl:apply-templates select="orders/order"><xsl:sort select="@day" order="descending"/></xsl:apply-templates>
      </body>
    </html>
  </xsl:template>
  <xsl:template match="order[item]">
    <xsl:call-template name="heading"><xsl:with-param name="text" select="concat('No. ', @id)"/></xsl:call-template>
    <ul><xsl:for-each select="item">
      <li class="{translate(., ' ', '-')}"><xsl:number format="a. "/><xsl:apply-templates/>
        <xsl:choose>
          <xsl:when test="@price * @count &gt; 12"><b><xsl:value-of select="format-number(@price * @count, '#,##0.00')"/></b></xsl:when>
          <xsl:otherwise><xsl:value-of select="@price * @count"/></xsl:otherwise>
        </xsl:choose>
      </li>
    </xsl:for-each></ul>
  </xsl:template>
  <xsl:template match="order"><xsl:comment>nothing in <xsl:value-of select="@id"/></xsl:comment></xsl:template>
  <xsl:template name="heading"><xsl:param name="text"/><h2><xsl:value-of select="normalize-space($text)"/></h2></xsl:template>
</xsl:stylesheet>
